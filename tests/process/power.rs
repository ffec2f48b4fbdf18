//! The power fails while a crawler works on a real file system: whatever was synced is there.
//!
//! The file system is in an image, and mounted so that it writes only what is synced. The crawler is
//! stopped so that no call is half done, and the image is copied. The copy has what a disk would have
//! kept; whatever was not synced is still in the memory of the system.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use simkeep::Store;

use super::child::{ChildProcess, ParentSocket};
use super::crawl::{self, CrawlState, acknowledged, options};
use super::scene::{TestScene, run, say, succeeds, text};
use simkeep_testing::compare::check_store;
use simkeep_testing::{choice, sound};

/// Starts a program whose mounts only it and its children see, and that end with them. Only the
/// administrator may mount a file system from an image.
const APART: [&str; 2] = ["unshare", "-m"];

const CUTS: u64 = 16;

/// Stops a process, and returns when none of its threads runs any more, in its own code or in the
/// kernel.
fn stop(id: u32) {
    run(&["sh", "-c", &format!("kill -STOP {id}")]);
    let is_stopped = || {
        fs::read_dir(format!("/proc/{id}/task")).unwrap().all(|task| {
            let stat = fs::read_to_string(task.unwrap().path().join("stat")).unwrap();
            // The state follows the name, which is in brackets.
            let state = stat.rsplit(") ").next().unwrap();
            assert!(!state.starts_with('Z'), "the crawler ended by itself");
            state.starts_with('T')
        })
    };
    while !is_stopped() {
        sleep(Duration::from_micros(100));
    }
}

fn mount(image: &Path, dir: &Path) {
    run(&["mount", "-o", "loop,commit=1000", text(image), text(dir)]);
}

/// Lets a crawler work on a file system in an image, and cuts the power again and again.
pub(crate) fn stage(parent: &ParentSocket, dir: &Path, seed: u64) {
    let [image, cut, disk, after] = ["image", "cut", "disk", "after"].map(|name| dir.join(name));
    fs::File::create(&image).unwrap().set_len(96 << 20).unwrap();
    run(&["mkfs.ext4", "-q", "-F", text(&image)]);
    fs::create_dir(&disk).unwrap();
    fs::create_dir(&after).unwrap();
    mount(&image, &disk);
    let store = disk.join("crawl.simkeep");
    crawl::create(&store);
    let mut expected = CrawlState::new(seed);
    let mut choice = choice(seed);
    let mut child = ChildProcess::start("crawl", &[&store.display(), &seed, &0]);
    for nth in 0..CUTS {
        let mut hear = |_| child.receive().expect("the crawler ended by itself");
        let mut said: Vec<String> = (0..1 + choice(120)).map(&mut hear).collect();
        sleep(Duration::from_micros(choice(3000)));
        stop(child.id());
        said.extend(child.said());
        let before = acknowledged(&said).unwrap_or(expected.at);
        run(&["cp", "--sparse=always", text(&image), text(&cut)]);
        run(&["sh", "-c", &format!("kill -CONT {}", child.id())]);

        mount(&cut, &after);
        let store = options().background(false);
        let store = Store::open(after.join("crawl.simkeep"), store).unwrap();
        // The next operation may be durable without having been acknowledged.
        let mut found = expected.clone();
        found.recognise(&store, before, true);
        check_store(&store, &found.model);
        sound(&store).unwrap();
        store.close().unwrap();
        run(&["umount", text(&after)]);
        expected.go_to(before);
        parent.say(format!("cut {nth} after {before} operations"));
    }
    child.kill();
    run(&["umount", text(&disk)]);
}

#[test]
fn c1_acknowledged_operations_survive_power_loss_on_a_file_system() {
    let scene = TestScene::new("power");
    let (image, dir) = (scene.path("probe"), scene.path("probed"));
    fs::File::create(&image).unwrap().set_len(8 << 20).unwrap();
    fs::create_dir(&dir).unwrap();
    let mut mount = APART.to_vec();
    mount.extend(["mount", "-o", "loop", text(&image), text(&dir)]);
    if !succeeds(&["mkfs.ext4", "-q", "-F", text(&image)]) || !succeeds(&mount) {
        say("skipped: a loss of power (mounting an image is not allowed here)");
        return;
    }
    let dir = scene.path("");
    let mut stage = ChildProcess::start_under(&APART, "cut power", &[&dir.display(), &scene.seed]);
    let (mut cuts, mut last) = (0, String::new());
    while let Some(said) = stage.receive() {
        cuts += 1;
        last = said;
    }
    assert!(stage.end().success(), "the stage failed");
    say(format!("{cuts} losses of power, the last: {last}; 0 lost; seed {}", scene.seed));
    assert_eq!(cuts, CUTS);
}
