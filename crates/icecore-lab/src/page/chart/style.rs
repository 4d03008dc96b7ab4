//! Colors of charts, in light and dark mode. No information is conveyed by color alone.

/// Style for a page, or for an SVG. Text has a contrast of at least 4.5, marks of at least 3.
pub(in crate::page) const CSS: &str = "
.chart{--paper:#fdfdfc;--ink:#1b1e22;--soft:#565d66;--grid:#e4e6e9;--other:#868e97;\
--own:#0a66ad;--base:#a85a00;--c0:#0a66ad;--c1:#b8480f;--c2:#0b7a55;--c3:#9a4a94;--c4:#8a6a00;--c5:#2d8fa8;\
font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}
svg.chart{font-size:13px}
@media (prefers-color-scheme:dark){.chart{--paper:#14171b;--ink:#e9ebee;--soft:#a7afb8;--grid:#2b3036;--other:#7d868f;\
--own:#5db3f0;--base:#e8a04a;--c0:#5db3f0;--c1:#f08a5a;--c2:#4cc29a;--c3:#d590cf;--c4:#d8b848;--c5:#7fd3e6}}
@media print{.chart{--paper:#fff;--ink:#000;--soft:#444;--grid:#ddd;--other:#868e97;\
--own:#0a66ad;--base:#a85a00;--c0:#0a66ad;--c1:#b8480f;--c2:#0b7a55;--c3:#9a4a94;--c4:#8a6a00;--c5:#2d8fa8}}
.chart .paper{fill:var(--paper)}
.chart .t{fill:var(--ink)}.chart .m{fill:var(--soft)}.chart .s{font-size:11.5px}
.chart .strong{font-weight:600}.chart .lab{font-size:12.5px}.chart .head{font-size:16px;font-weight:600}
.chart .num{font-variant-numeric:tabular-nums}
.chart .grid{stroke:var(--grid)}.chart .axis{stroke:var(--soft)}
.chart .own{fill:var(--own)}.chart .base{fill:var(--base)}.chart .other{fill:var(--other)}
.chart .wrong{fill:none;stroke:var(--other);stroke-dasharray:3 3}
.chart .engine{fill:none;stroke:var(--own);stroke-width:1.5}
.chart .whisker{stroke:var(--ink);stroke-width:1.5}
.chart .halo{stroke:var(--paper);stroke-width:4}
.chart .cut{stroke:var(--paper);stroke-width:3}
.chart .floor{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:6 3}
.chart .roof{stroke:var(--soft);stroke-width:1.5;stroke-dasharray:1.5 3}
.chart .leader{stroke:var(--other);stroke-width:.8;fill:none}
.chart .front{stroke:var(--soft);stroke-dasharray:4 4;fill:none}
.chart .l0,.chart .l1,.chart .l2,.chart .l3,.chart .l4,.chart .l5,.chart .lx,.chart .ld{fill:none;stroke-width:2;stroke-linejoin:round}
.chart .l0{stroke:var(--c0)}.chart .l1{stroke:var(--c1)}.chart .l2{stroke:var(--c2)}\
.chart .l3{stroke:var(--c3)}.chart .l4{stroke:var(--c4)}.chart .l5{stroke:var(--c5)}
.chart .thick{stroke-width:3.5}.chart .lx{stroke:var(--other);stroke-width:1.2}.chart .ld{stroke:var(--soft);stroke-width:1.5;stroke-dasharray:6 3}
.chart .p0{fill:var(--c0)}.chart .p1{fill:var(--c1)}.chart .p2{fill:var(--c2)}\
.chart .p3{fill:var(--c3)}.chart .p4{fill:var(--c4)}.chart .p5{fill:var(--c5)}.chart .px,.chart .pd{fill:var(--other)}
.chart .thin{stroke-width:1.2;stroke-dasharray:none}
";
