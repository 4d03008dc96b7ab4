//! Style of the page for light and dark mode, narrow windows, and paper.

/// Follows the style of the charts, whose colors it uses.
pub(super) const PAGE: &str = "
svg.chart{display:block;width:100%;height:auto}
svg.narrow{display:none}
*{box-sizing:border-box}
html{scroll-behavior:smooth}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0 auto;padding:2rem 1.25rem 4rem;max-width:58rem;background:var(--paper);color:var(--ink);\
font-size:16px;line-height:1.55;overflow-wrap:anywhere}
p,.verdict-list{max-width:46rem}
h1{font-size:2rem;line-height:1.2;margin:0 0 .3rem}
h2{font-size:1.5rem;line-height:1.25;margin:3.5rem 0 .3rem;padding-top:1.2rem;border-top:1px solid var(--grid)}
h3{font-size:1.05rem;margin:2.2rem 0 .6rem}
a{color:var(--own)}
.lead{color:var(--soft);margin:.2rem 0 1rem}
.note,small,nav span,figcaption span{color:var(--soft);font-size:.9rem}
small{font-weight:400;font-size:.85rem}
nav ul,.key{list-style:none;padding:0;margin:1.5rem 0}
nav li{margin:.25rem 0}
nav span{margin-left:.4rem}
.key{display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;font-size:.9rem;color:var(--soft);margin:.5rem 0 1rem}
.verdict{font-weight:600;white-space:nowrap;color:var(--ink)}
.verdict span{display:inline-block;width:1.2em;text-align:center}
.holds span,.stronger span{color:var(--c2)}.weaker span,.gone span{color:var(--base)}.reversed span,.differs span{color:var(--c1)}
.verdict-list{padding-left:1.2rem;margin:1rem 0;border-left:3px solid var(--own)}
.verdict-list li{margin:.3rem 0}
figure{margin:2.6rem 0 0}
figcaption{margin:0 0 .8rem;display:flex;flex-wrap:wrap;gap:0 .8rem;align-items:baseline}
figcaption h3{margin:0}
details{margin:.8rem 0 0}
summary{cursor:pointer;color:var(--soft);font-size:.9rem}
.scroll{overflow-x:auto;margin:.6rem 0 1rem}
.scroll:focus-visible,a:focus-visible,summary:focus-visible{outline:2px solid var(--own);outline-offset:2px}
table{border-collapse:collapse;font-size:.85rem;line-height:1.35;min-width:100%}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{padding:.32rem .9rem .32rem 0;text-align:left;vertical-align:top;font-weight:400;white-space:nowrap;\
border-bottom:1px solid var(--grid);font-variant-numeric:tabular-nums}
thead th,thead td{color:var(--soft);border-bottom-color:var(--soft)}
th:last-child,td:last-child{padding-right:0}
.r{text-align:right}
.part{color:var(--soft);padding-top:.8rem}
.claims tbody th{white-space:normal;min-width:13rem;width:100%;overflow-wrap:break-word}
code{font-family:ui-monospace,'SF Mono',Menlo,Consolas,monospace;font-size:.85em}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.2rem}
dt{color:var(--soft)}dd{margin:0}
@media (max-width:620px){body{padding:1.25rem 1rem 3rem}h1{font-size:1.6rem}h2{font-size:1.3rem}\
svg.wide{display:none}svg.narrow{display:block;max-width:26rem}dl{grid-template-columns:1fr}dd{margin-bottom:.5rem}}
@media print{body{max-width:none;padding:0}nav{display:none}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}\
svg.wide{display:block}svg.narrow{display:none}summary{display:none}a{color:inherit;text-decoration:none}}
";
