//! Pages that do not change at a constant rate, and other settings in which a policy may do harm.

use simkeep::recrawl::simulate::{ChangeProcess, RandomPage, Rates, SimulatedPage};

/// A kind of pages, and how they are made from a seed.
pub(crate) struct Setting {
    pub(crate) title: &'static str,
    make: fn(u64) -> Vec<RandomPage>,
}

/// The days of a simulation.
pub(crate) const DAYS: f64 = 400.0;

const HOSTS: Rates =
    Rates::ByHost { hosts: 20, pages: 20, median: 0.06, between: 1.4, within: 0.6 };
const SINGLE: Rates =
    Rates::ByHost { hosts: 400, pages: 1, median: 0.06, between: 1.4, within: 0.6 };

pub(crate) const ALL: [Setting; 14] = [
    Setting { title: "by host", make: |seed| draw(HOSTS, ChangeProcess::Constant, seed) },
    Setting {
        title: "hosts of one page",
        make: |seed| draw(SINGLE, ChangeProcess::Constant, seed),
    },
    Setting {
        title: "95 % never change",
        make: |seed| mixed(seed, 1_600, |number| number % 20 == 0),
    },
    Setting {
        title: "one lively page among 61 a host",
        make: |seed| mixed(seed, 610, |number| number % 61 == 7),
    },
    Setting {
        title: "office hours on weekdays",
        make: |seed| draw(HOSTS, ChangeProcess::Weekdays, seed),
    },
    Setting { title: "half of the pages change each Monday", make: |seed| regular(seed, 2, 7.0) },
    Setting {
        title: "a tenth of the pages changes each morning",
        make: |seed| regular(seed, 10, 1.0),
    },
    Setting {
        title: "all pages change three times a day",
        make: |seed| draw(equal(3.0), ChangeProcess::Constant, seed),
    },
    Setting {
        title: "bursts of eight changes in two days",
        make: |seed| draw(HOSTS, ChangeProcess::Bursts { changes: 8, days: 2.0 }, seed),
    },
    Setting {
        title: "all pages of a host in one day",
        make: |seed| draw(HOSTS, ChangeProcess::HostAtOnce, seed),
    },
    Setting {
        title: "rates switch at half time",
        make: |seed| draw(HOSTS, ChangeProcess::Switching, seed),
    },
    Setting { title: "articles, edited for two days, and front pages", make: articles },
    Setting {
        title: "daily for 40 days, then still",
        make: |seed| draw(equal(1.0), ChangeProcess::Settling { days: 40.0 }, seed),
    },
    Setting {
        title: "every five days for 30 days, then still",
        make: |seed| draw(equal(0.2), ChangeProcess::Settling { days: 30.0 }, seed),
    },
];

impl Setting {
    pub(crate) fn pages(&self, seed: u64) -> Vec<RandomPage> {
        (self.make)(seed)
    }
}

fn draw(rates: Rates, process: ChangeProcess, seed: u64) -> Vec<RandomPage> {
    rates.draw(process, seed, DAYS).unwrap()
}

/// Pages of the same rate on 40 hosts.
fn equal(per_day: f64) -> Rates {
    Rates::Equal { hosts: 40, pages: 20, per_day }
}

/// Some pages are lively, at about a change in four days, and the others never change; 61 on each host.
fn mixed(seed: u64, pages: u32, is_lively: fn(u32) -> bool) -> Vec<RandomPage> {
    let rates = Rates::Equal { hosts: 1, pages, per_day: 0.25 };
    let lively = draw(rates, ChangeProcess::Constant, seed);
    let page = |(number, page): (u32, RandomPage)| {
        let starts = if is_lively(number) { page.starts().to_vec() } else { vec![0.0] };
        RandomPage::new(number / 61, starts).unwrap()
    };
    (0..).zip(lively).map(page).collect()
}

/// Pages with random rates, but one in `of` changes at the same time of each period.
fn regular(seed: u64, of: u32, period: f64) -> Vec<RandomPage> {
    let page = |(number, page): (u32, RandomPage)| {
        if number % of != 0 {
            return page;
        }
        let days = (0..).map(|n: u32| period * f64::from(n) + 0.4);
        let starts = std::iter::once(0.0).chain(days.take_while(|day| *day <= DAYS));
        RandomPage::new(page.host(), starts.collect()).unwrap()
    };
    (0..).zip(draw(HOSTS, ChangeProcess::Constant, seed)).map(page).collect()
}

/// On each of 40 hosts a front page that changes four times a day, and articles that appear on a
/// random day and are edited twice a day for two days.
fn articles(seed: u64) -> Vec<RandomPage> {
    let edited = draw(
        Rates::Equal { hosts: 40, pages: 20, per_day: 2.0 },
        ChangeProcess::Settling { days: 2.0 },
        seed,
    );
    let front = Rates::Equal { hosts: 40, pages: 1, per_day: 4.0 };
    let mut pages = draw(front, ChangeProcess::Constant, seed);
    pages.extend(edited);
    pages
}
