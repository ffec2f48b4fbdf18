//! Clusters or pages as a Parquet table.

use simkeep::cluster::Clusters;
use simkeep_parquet::{ClusterRow, ClusterWriter, MemberRow, MemberWriter};

use super::ClusterArgs;
use crate::exit::VerbError;
use crate::output::compressed_file::CompressedFile;

impl ClusterArgs {
    /// Writes the list that the user asked for. Returns the number of rows.
    pub(super) fn table(
        &self,
        clusters: &Clusters,
        to: &mut CompressedFile,
    ) -> Result<u64, VerbError> {
        let mut rows = 0;
        if self.is_of_pages() {
            let mut writer = MemberWriter::new(to)?;
            for page in self.pages(clusters)? {
                let page = page?;
                writer.row(&MemberRow {
                    url: &page.url,
                    fingerprint: page.fingerprint,
                    class: page.class,
                    distance: page.distance,
                    leader: &page.leader,
                    size: page.pages,
                })?;
                rows += 1;
            }
            writer.end()?;
        } else {
            let mut writer = ClusterWriter::new(to)?;
            for cluster in self.clusters(clusters)? {
                let cluster = cluster?;
                writer.row(&ClusterRow {
                    leader: &cluster.leader,
                    fingerprint: cluster.fingerprint,
                    first_seen: cluster.first_seen.as_ms(),
                    size: cluster.pages,
                    max_distance: cluster.max_distance,
                })?;
                rows += 1;
            }
            writer.end()?;
        }
        Ok(rows)
    }
}
