//! Names of congestion controls: `cubic`, `reno`, `bbr2`, `bbr2:probe-rtt=4000,loss=0.08`.

use quiche::{BbrParams, CongestionControlAlgorithm};
use std::time::Duration;

/// `probe-rtt`: interval of ProbeRTT in ms (quiche: 10,000); `loss`: share of lost bytes above which a probe for
/// bandwidth has gone too far (quiche: 0.015).
pub struct Congestion {
    algorithm: CongestionControlAlgorithm,
    bbr: BbrParams,
}

impl Congestion {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, settings) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let algorithm = match name {
            "cubic" => CongestionControlAlgorithm::CUBIC,
            "reno" => CongestionControlAlgorithm::Reno,
            "bbr2" => CongestionControlAlgorithm::Bbr2Gcongestion,
            _ => return Err(format!("congestion control: expected cubic, reno or bbr2, got \"{text}\"")),
        };
        let mut bbr = BbrParams::default();
        for setting in settings.iter().flat_map(|all| all.split(',')) {
            let value = |key: &str| setting.strip_prefix(key)?.parse::<f32>().ok().filter(|value| *value > 0.0);
            match (name, value("probe-rtt="), value("loss=")) {
                ("bbr2", Some(ms), _) => bbr.probe_rtt_period = Some(Duration::from_millis(ms as u64)),
                ("bbr2", _, Some(share)) if share <= 1.0 => bbr.loss_threshold = Some(share),
                _ => {
                    return Err(format!(
                        "{name}: expected probe-rtt=<ms> and loss=<share> of bbr2 only, got \"{setting}\""
                    ))
                },
            }
        }
        Ok(Congestion { algorithm, bbr })
    }

    pub fn apply(&self, config: &mut quiche::Config) {
        config.set_cc_algorithm(self.algorithm);
        config.set_custom_bbr_params(self.bbr);
    }
}
