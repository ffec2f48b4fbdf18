//! Random numbers that are the same on every machine of one kind.

pub(crate) struct Lots(u64);

impl Lots {
    pub(crate) fn new(seed: u64) -> Lots {
        Lots(seed << 32)
    }

    /// A number from 0 to 1, without 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A normal number, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let (one, other) = (1.0 - self.next(), self.next());
        (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }

    /// The times of events at a rate, up to a number of days.
    pub(crate) fn times(&mut self, per_day: f64, days: f64) -> Vec<f64> {
        let (mut times, mut day) = (Vec::new(), 0.0);
        if per_day <= 0.0 {
            return times;
        }
        loop {
            day -= (1.0 - self.next()).ln() / per_day;
            if day > days {
                return times;
            }
            times.push(day);
        }
    }
}
