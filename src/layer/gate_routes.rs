//! The levers of a process's own gates, over HTTP.

use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, http::HeaderName};
use serde_json::{Value, json};

use crate::core::setting::InvalidSetting;
use crate::run::{Forbear, Pool, PoolSnapshot};

/// Who gives the order. A page of another site cannot set it without asking this server first, which says no.
const OPERATOR: HeaderName = HeaderName::from_static("x-forbear-operator");

/// What is asked, as name and value.
type Asked = Query<Vec<(String, String)>>;

/// Routes by which an operator sees this process's pools and holds them by hand, for a listener that only operators reach.
///
/// | route | parameters | what it does |
/// |---|---|---|
/// | `GET`, at the path they are nested at | | all pools, as a JSON array |
/// | `POST /shut` | `for_s`, `reason` | [`Pool::shut`](crate::Pool::shut) |
/// | `POST /pace` | `every_s`, `for_s`, `reason` | [`Pool::pace`](crate::Pool::pace) |
/// | `POST /reopen` | `reason` | [`Pool::reopen`](crate::Pool::reopen) |
/// | `POST /off`, `POST /on` | `reason` | [`Forbear::turn_gate_off`](crate::Forbear::turn_gate_off), `turn_gate_on` |
///
/// A pool is named in the query by `provider`, the table's id, and one `name` for each name of its path, widest first; fewer
/// names mean a level above, which holds all below it. Times are seconds. Every `POST` needs the header
/// `x-forbear-operator` with who it is: it stands in the event beside the reason, and keeps a web page that an operator has
/// open elsewhere from pulling the lever. It is no proof of who it is: authentication is the application's, in a layer
/// around these routes.
///
/// Answers: 200 with the pool as JSON; 400 what was wrong, as text; 404 no pool of that name was ever built here.
///
/// ```
/// # use forbear::{Forbear, layer::gate_routes};
/// # fn build() -> Result<(), forbear::InvalidSetting> {
/// let forbear = Forbear::builder().build()?;
/// let operators: axum::Router = axum::Router::new().nest("/gate", gate_routes(forbear.clone()));
/// # drop(operators);
/// # Ok(()) }
/// # build().unwrap();
/// // curl -X POST -H 'x-forbear-operator: alice' \
/// //   'localhost:9091/gate/shut?provider=openai&name=prod&name=gpt-4o&for_s=600&reason=the+export'
/// ```
pub fn gate_routes<S: Clone + Send + Sync + 'static>(forbear: Forbear) -> Router<S> {
    Router::new()
        .route("/", get(list))
        .route("/shut", post(shut))
        .route("/pace", post(pace))
        .route("/reopen", post(reopen))
        .route("/off", post(off))
        .route("/on", post(on))
        .with_state(forbear)
}

/// Why nothing was done.
struct No(StatusCode, String);

impl IntoResponse for No {
    fn into_response(self) -> Response {
        (self.0, self.1 + "\n").into_response()
    }
}

impl From<InvalidSetting> for No {
    fn from(refused: InvalidSetting) -> Self {
        Self(StatusCode::BAD_REQUEST, refused.to_string())
    }
}

async fn list(State(forbear): State<Forbear>) -> Response {
    answer(&forbear.pools().iter().map(of).collect())
}

async fn shut(forbear: State<Forbear>, headers: HeaderMap, asked: Asked) -> Result<Response, No> {
    let pool = pool(&forbear, &asked)?;
    pool.shut(seconds(&asked, "for_s")?, &why(&headers, &asked)?)?;
    Ok(answer(&of(&pool.snapshot())))
}

async fn pace(forbear: State<Forbear>, headers: HeaderMap, asked: Asked) -> Result<Response, No> {
    let pool = pool(&forbear, &asked)?;
    pool.pace(seconds(&asked, "every_s")?, seconds(&asked, "for_s")?, &why(&headers, &asked)?)?;
    Ok(answer(&of(&pool.snapshot())))
}

async fn reopen(forbear: State<Forbear>, headers: HeaderMap, asked: Asked) -> Result<Response, No> {
    let pool = pool(&forbear, &asked)?;
    pool.reopen(&why(&headers, &asked)?);
    Ok(answer(&of(&pool.snapshot())))
}

async fn off(forbear: State<Forbear>, headers: HeaderMap, asked: Asked) -> Result<Response, No> {
    Ok(answer(&json!({ "changed": forbear.turn_gate_off(&why(&headers, &asked)?) })))
}

async fn on(forbear: State<Forbear>, headers: HeaderMap, asked: Asked) -> Result<Response, No> {
    Ok(answer(&json!({ "changed": forbear.turn_gate_on(&why(&headers, &asked)?) })))
}

fn answer(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string() + "\n").into_response()
}

fn value<'a>(asked: &'a Asked, name: &str) -> Result<&'a str, No> {
    let found = asked.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    found.filter(|value| !value.is_empty()).ok_or_else(|| No(StatusCode::BAD_REQUEST, format!("{name} is missing")))
}

fn seconds(asked: &Asked, name: &str) -> Result<Duration, No> {
    let number = value(asked, name)?.parse::<f64>().ok().and_then(|number| Duration::try_from_secs_f64(number).ok());
    number.ok_or_else(|| No(StatusCode::BAD_REQUEST, format!("{name} is no number of seconds")))
}

/// The reason and who gives it.
fn why(headers: &HeaderMap, asked: &Asked) -> Result<String, No> {
    let operator = headers.get(OPERATOR).and_then(|name| name.to_str().ok()).filter(|name| !name.trim().is_empty());
    let operator = operator.ok_or_else(|| No(StatusCode::BAD_REQUEST, format!("the header {OPERATOR} is missing")))?;
    Ok(format!("{} ({})", value(asked, "reason")?, operator.trim()))
}

fn pool(forbear: &Forbear, asked: &Asked) -> Result<Pool, No> {
    let path: Vec<&str> = asked.iter().filter(|(name, _)| name == "name").map(|(_, value)| value.as_str()).collect();
    let provider = value(asked, "provider")?;
    let missing = || No(StatusCode::NOT_FOUND, format!("no pool {provider}/{} here", path.join("/")));
    forbear.find_pool(provider, &path).ok_or_else(missing)
}

/// A pool for a program; times are seconds.
fn of(pool: &PoolSnapshot) -> Value {
    let shut = pool.shut.as_ref().map(|shut| {
        json!({
            "limit_class": shut.class.as_str(), "left_s": shut.reopens_in.as_secs_f64(), "told": shut.told,
            "by_hand": shut.by_hand, "level": shut.level,
        })
    });
    json!({
        "provider": pool.provider, "path": pool.path, "state": pool.state.as_str(), "shut": shut,
        "interval_s": pool.interval.map(|interval| interval.as_secs_f64()), "paced_by_hand": pool.paced_by_hand,
        "waiting": pool.waiting, "in_flight": pool.in_flight, "in_flight_limit": pool.in_flight_limit,
    })
}
