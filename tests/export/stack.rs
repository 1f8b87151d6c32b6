//! The example of a whole stack, as far as it goes without an engine for containers: every file by the tool that reads it,
//! and Prometheus and workload as they are configured there.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::server::{Killed, Server, empty_folder, tool};
use crate::yaml;

fn stack() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/stack")
}

fn read(name: &str) -> Value {
    yaml(&fs::read_to_string(stack().join(name)).expect(name))
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn compose_takes_the_file_and_everything_it_mounts_is_there() {
    let mut compose = tool("docker-compose");
    let output =
        compose.arg("-f").arg(stack().join("compose.yml")).args(["config", "--quiet"]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = read("compose.yml");
    let volumes = file["volumes"].as_object().expect("volumes");
    let mut mounted = 0;
    for (name, service) in file["services"].as_object().expect("services") {
        for mount in words(&service["volumes"]) {
            let source = mount.split(':').next().expect("a source");
            mounted += 1;
            assert!(volumes.contains_key(source) || stack().join(source).exists(), "{name} mounts {source}");
        }
        if let Some(build) = service.get("build") {
            let context = stack().join(build["context"].as_str().expect("a folder"));
            assert!(context.join(build["dockerfile"].as_str().expect("a file")).exists(), "{name}");
        }
        for port in words(&service["ports"]) {
            assert!(port.starts_with("127.0.0.1:"), "{name} is to be reached from this machine alone");
        }
    }
    assert!(mounted > 8, "{mounted} mounts");
}

#[test]
fn whoever_is_named_in_a_configuration_is_a_service_that_listens_there() {
    let compose = read("compose.yml");
    let services: BTreeSet<&str> =
        compose["services"].as_object().expect("services").keys().map(String::as_str).collect();
    let prometheus = read("prometheus.yml");
    let jobs = prometheus["scrape_configs"].as_array().expect("jobs");
    let managers = &prometheus["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"];
    let targets = jobs.iter().flat_map(|job| words(&job["static_configs"][0]["targets"])).chain(words(managers));
    let collector = read("collector.yml");
    let exporter = &collector["exporters"]["prometheus"];
    let exposed = exporter["endpoint"].as_str().and_then(|endpoint| endpoint.rsplit_once(':')).expect("a port").1;
    let ports = [("demo", "9464"), ("collector", exposed), ("alertmanager", "9093")];
    let targets: Vec<_> = targets.map(|target| target.split_once(':').expect("host and port")).collect();
    assert_eq!(targets, ports);
    assert!(targets.iter().all(|(host, _)| services.contains(host)));
    assert_eq!((&jobs[1]["job_name"], &jobs[1]["honor_labels"]), (&"collector".into(), &true.into()));
    assert_eq!(exporter["resource_to_telemetry_conversion"]["enabled"], true);
    let pushes_to = compose["services"]["summaries"]["environment"]["OTEL_EXPORTER_OTLP_ENDPOINT"].as_str();
    let listens = collector["receivers"]["otlp"]["protocols"]["http"]["endpoint"].as_str().expect("an address");
    assert_eq!(pushes_to, Some(&*listens.replace("0.0.0.0", "http://collector")));
    for (name, pipeline) in collector["service"]["pipelines"].as_object().expect("pipelines") {
        for part in ["receivers", "processors", "exporters"] {
            let declared = collector[part].as_object().expect("a mapping");
            for used in words(&pipeline[part]) {
                assert!(declared.contains_key(used), "{name} uses {used}, which is none of the {part}");
            }
        }
    }
}

#[test]
fn promtool_takes_the_configuration_with_its_rules() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "stack-config");
    configured(&folder, |text| text);
    for promtool in ["promtool", "promtool-3"] {
        let output = tool(promtool).args(["check", "config", "--lint=all"]).arg(folder.join("prometheus.yml")).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{promtool}: {}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said.matches("rules found").count(), 3, "{said}");
    }
    fs::remove_dir_all(&folder).expect("removed");
}

/// The configuration in a folder, as it is mounted: rules beside it.
fn configured(folder: &Path, change: impl Fn(String) -> String) -> String {
    let text = change(fs::read_to_string(stack().join("prometheus.yml")).expect("kept"));
    fs::write(folder.join("prometheus.yml"), &text).expect("written");
    let rules = folder.join("rules");
    fs::create_dir_all(&rules).expect("a folder");
    for file in ["evidence.yml", "verdict.yml", "alerts.yml"] {
        fs::copy(crate::kept().join("rules").join(file), rules.join(file)).expect("copied");
    }
    text
}

/// The demo as the stack starts it, at a port of its own; and where its metrics are.
fn demo() -> (Killed, String) {
    let compose = read("compose.yml");
    let command = words(&compose["services"]["demo"]["command"]);
    assert_eq!(command[0], "forbear");
    let mut demo = Command::new(env!("CARGO_BIN_EXE_forbear"));
    let mut child = demo
        .args(&command[1..])
        .args(["--port", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut said = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let url = |line: String| Some(line.strip_prefix("metrics: http://")?.strip_suffix("/metrics")?.to_owned());
    let addr = said.find_map(url).expect("the URL of the metrics").replace("0.0.0.0", "127.0.0.1");
    // It must not stop over a report that nobody reads.
    std::thread::spawn(move || said.for_each(drop));
    (Killed::on_drop(child), addr)
}

#[test]
#[allow(clippy::disallowed_methods, reason = "nobody's runtime waits for these servers")]
fn the_doctor_finds_nothing_amiss_with_the_workload_as_it_is_scraped() {
    let (workload, metrics) = demo();
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "stack-live");
    // The demo alone: nobody pushes here. Scraped more often, for a test that ends soon.
    let text = configured(&folder, |text| {
        let demo_alone = text[..text.find("  # What services pushed").expect("a comment")].to_owned();
        demo_alone.replace("demo:9464", &metrics).replace("scrape_interval: 15s", "scrape_interval: 1s")
    });
    let addr = crate::server::free_addr();
    let mut command = tool("prometheus");
    fs::write(folder.join("prometheus.yml"), text).expect("written");
    command
        .arg(format!("--config.file={}", folder.join("prometheus.yml").display()))
        .arg(format!("--storage.tsdb.path={}", folder.join("tsdb").display()))
        .arg(format!("--web.listen-address={addr}"));
    let prometheus = Server::start(command, addr, "Server is ready to receive web requests");
    // The third of them comes in bursts two minutes apart.
    let rising = "count(sum by (pool) (increase(forbear_calls_total[5m])) > 0) >= 2";
    let started = std::time::Instant::now();
    while prometheus.query(rising, None).is_empty() {
        assert!(started.elapsed().as_secs() < 60, "no calls are seen");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    let output = Command::new(env!("CARGO_BIN_EXE_forbear"))
        .args(["doctor", "--prometheus", &format!("http://{addr}")])
        .output();
    let output = output.expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.starts_with("nothing is amiss"), "{said}");
    drop((prometheus, workload));
    fs::remove_dir_all(&folder).expect("removed");
}
