//! The articles whose claims the scenarios check.

/// An article.
#[derive(Debug, PartialEq, Eq)]
pub struct Article {
    /// The name of the article in this project. The sources of claims and figures begin with it.
    pub title: &'static str,
    /// Its address.
    pub url: &'static str,
}

const ARTICLES: &[Article] = &[
    Article { title: "Serialisation in Perl", url: "https://theweeklychallenge.org/blog/serialisation-in-perl" },
    Article { title: "Faster way to serialize a Perl hash", url: "http://www.martin-evans.me.uk/node/42" },
    Article { title: "Serializing simple data", url: "https://tociyuki.hatenablog.jp/entry/20060717/1153147925" },
    Article {
        title: "Benchmarking serialization",
        url: "https://hive.blog/hive-168588/@crell/benchmarking-serialization",
    },
    Article {
        title: "Ruby objects in MongoDB",
        url: "https://mensfeld.pl/2014/01/ruby-rails-objects-serialization-marshal-mongoid-and-performance-matters/",
    },
];

/// Returns the article that a source names, or `None` for measurements of this project.
///
/// ```
/// let article = icecore_lab::articles::find_article("Serialisation in Perl (2025), a million records").unwrap();
/// assert_eq!(article.title, "Serialisation in Perl");
/// ```
pub fn find_article(source: &str) -> Option<&'static Article> {
    ARTICLES.iter().find(|article| source.starts_with(article.title))
}
