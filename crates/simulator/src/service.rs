//! Handles one request: routing, authorization, faults, reply.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Method, Response, StatusCode};
use serde_json::json;

use crate::body::SimulatedBody;
use crate::faults::{FaultKind, Faults};
use crate::reply::{ResolvedPrompt, Simulator};
use crate::request::{Request, Sampling};
use crate::response::{self, ErrorBody, Missing};
use crate::skill::SimulatedModel;
use crate::stats::{Api, Counters};

/// Larger than any prompt. Larger bodies are rejected without being read.
const MAX_BODY_LEN: usize = 16 << 20;
/// Long enough for the data to be sent before the connection closes.
const CLOSE_DELAY: Duration = Duration::from_millis(20);

const PAGE: &str = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>\n\
                    <body><h1>502 Bad Gateway</h1><p>simulated</p></body></html>\n";

/// The state shared by all connections.
#[derive(Debug)]
pub(crate) struct Service {
    simulator: Simulator,
    faults: Faults,
    key: Option<Key>,
    pub(crate) counters: Counters,
    /// Request number, from which faults are drawn.
    number: AtomicU64,
}

/// The API key. `Debug` doesn't show it.
pub(crate) struct Key(pub(crate) String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// Closes the connection without a reply.
#[derive(Debug, thiserror::Error)]
#[error("connection closed by an injected fault")]
pub(crate) struct ConnectionReset;

type ServiceResult = Result<Response<SimulatedBody>, ConnectionReset>;

impl Service {
    pub(crate) fn new(simulator: Simulator, faults: Faults, key: Option<Key>) -> Self {
        Self { simulator, faults, key, counters: Counters::default(), number: AtomicU64::new(0) }
    }

    pub(crate) async fn handle(self: Arc<Self>, request: hyper::Request<Incoming>) -> ServiceResult {
        let (head, body) = request.into_parts();
        match (&head.method, head.uri.path()) {
            (&Method::POST, path) if let Some(api) = Api::by_path(path) => {
                let answer = self.answer(api, &head.headers, body).await;
                if let Ok(answer) = &answer {
                    self.counters.status(answer.status().as_u16());
                }
                answer
            }
            (&Method::GET, "/v1/models") if self.is_authorized(&head.headers) => {
                Ok(ok_json(models().to_string().into_bytes()))
            }
            (&Method::GET, "/v1/models") => Ok(unauthorized(Api::Chat)),
            (&Method::GET, "/stats") => {
                let stats = serde_json::to_vec(&self.counters.read()).expect("numbers under names are JSON");
                Ok(ok_json(stats))
            }
            (&Method::POST, "/stats/reset") => {
                self.counters.reset();
                Ok(ok_json(b"{}".to_vec()))
            }
            (method, path) => Ok(no_such_route(method, path)),
        }
    }

    async fn answer(&self, api: Api, headers: &HeaderMap, body: Incoming) -> ServiceResult {
        let Ok(body) = Limited::new(body, MAX_BODY_LEN).collect().await else {
            return Ok(bad_request(api, StatusCode::PAYLOAD_TOO_LARGE, "the body is too large", None));
        };
        let body = body.to_bytes();
        let (_in_flight, identity) = self.counters.count_request(api, &body);
        if !self.is_authorized(headers) {
            self.counters.unauthorized();
            return Ok(unauthorized(api));
        }
        let fault = self.faults.for_request(self.number.fetch_add(1, Ordering::Relaxed));
        if let Some(fault) = fault {
            self.counters.fault(fault);
            if let Some(answer) = self.simulate_fault(api, fault).await {
                return answer;
            }
        }
        let request = match Request::read(api, &body) {
            Ok(request) => request,
            Err(error) => {
                return Ok(bad_request(api, StatusCode::BAD_REQUEST, &error.to_string(), error.param()));
            }
        };
        let Some(model) = SimulatedModel::by_name(&request.model) else {
            return Ok(unknown_model(api, &request.model));
        };
        if self.faults.is_filtered(&request.text) {
            self.counters.fault(FaultKind::Filter);
            return Ok(json(StatusCode::BAD_REQUEST, response::filtered(api)));
        }
        if self.faults.overflows(&request.text) {
            self.counters.fault(FaultKind::Overflow);
            let as_llama_cpp = request.text.len() % 2 == 1;
            let body = response::overflow(api, request.prompt_tokens, as_llama_cpp);
            return Ok(json(StatusCode::BAD_REQUEST, body));
        }
        let is_answer = !matches!(fault, Some(FaultKind::Half | FaultKind::InvalidJson | FaultKind::Empty));
        let before = if is_answer { self.counters.answered(identity) } else { 0 };
        let repeat = match request.sampling {
            Sampling::Greedy => 0,
            Sampling::Seeded(seed) => seed as u64,
            Sampling::Free => before.into(),
        };
        let prompt = ResolvedPrompt {
            text: &request.text,
            max_tokens: request.max_tokens,
            repeat,
            states_confidence: request.states_confidence,
        };
        let reply = self.simulator.reply(&model, &prompt);
        if !reply.known_question {
            self.counters.unknown_question();
        }
        let missing = match fault {
            Some(FaultKind::NoUsage) => Missing::Usage,
            Some(FaultKind::Empty) => Missing::Text,
            _ => Missing::Nothing,
        };
        let mut written = response::write(api, &request, &reply, missing);
        match fault {
            Some(FaultKind::Half) => return Ok(half_response(written)),
            Some(FaultKind::InvalidJson) => written.truncate(written.len() * 2 / 3),
            _ => {}
        }
        Ok(ok_json(written))
    }

    /// Applies a fault. `None` if it is applied to the reply later, or only delays it.
    async fn simulate_fault(&self, api: Api, fault: FaultKind) -> Option<ServiceResult> {
        let error = |status, message, kind, anthropic_kind| {
            let body = ErrorBody { message, kind, anthropic_kind, param: None, code: None };
            Some(Ok(json(status, body.write(api))))
        };
        match fault {
            FaultKind::TooManyRequests => {
                let body = ErrorBody {
                    message: "too many requests (simulated); try again after the time in Retry-After",
                    kind: "rate_limit_error",
                    anthropic_kind: "rate_limit_error",
                    param: None,
                    code: Some("rate_limit_exceeded"),
                };
                let mut answer = json(StatusCode::TOO_MANY_REQUESTS, body.write(api));
                let seconds = HeaderValue::from_str(&self.faults.retry_after_seconds.to_string())
                    .expect("a number is a header value");
                answer.headers_mut().insert(RETRY_AFTER, seconds);
                Some(Ok(answer))
            }
            FaultKind::ServerError => {
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                error(status, "internal error (simulated)", "server_error", "api_error")
            }
            FaultKind::Unavailable => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                error(status, "overloaded (simulated)", "service_unavailable", "overloaded_error")
            }
            FaultKind::Slow => {
                tokio::time::sleep(self.faults.slow).await;
                None
            }
            // Pending until the client disconnects or the server stops.
            FaultKind::Stall => std::future::pending().await,
            FaultKind::Reset => Some(Err(ConnectionReset)),
            FaultKind::WrongType => {
                // Both occur in practice: proxies return 502, login pages return 200.
                let number = self.number.load(Ordering::Relaxed);
                let status = if number.is_multiple_of(2) { StatusCode::OK } else { StatusCode::BAD_GATEWAY };
                Some(Ok(respond(status, "text/html; charset=utf-8", PAGE.as_bytes().to_vec())))
            }
            FaultKind::Half
            | FaultKind::InvalidJson
            | FaultKind::Empty
            | FaultKind::NoUsage
            | FaultKind::Overflow
            | FaultKind::Filter => None,
        }
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let Some(Key(key)) = &self.key else { return true };
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        [bearer, header("x-api-key")].contains(&Some(key.as_str()))
    }
}

fn models() -> serde_json::Value {
    let family = [
        ("sim-p0.85", "knows each answer with probability 0.85; any probability is accepted"),
        ("sim-p0.85-t0.1", "the same, truncated with probability 0.1"),
    ];
    let data: Vec<_> = SimulatedModel::profiles()
        .chain(family)
        .map(|(id, description)| {
            json!({ "id": id, "object": "model", "owned_by": "reasonscape", "description": description })
        })
        .collect();
    json!({ "object": "list", "data": data })
}

fn respond(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Response<SimulatedBody> {
    let mut response = Response::new(SimulatedBody::complete(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn json(status: StatusCode, body: Vec<u8>) -> Response<SimulatedBody> {
    respond(status, "application/json", body)
}

fn ok_json(body: Vec<u8>) -> Response<SimulatedBody> {
    json(StatusCode::OK, body)
}

/// Half of the body that `Content-Length` announces.
fn half_response(mut body: Vec<u8>) -> Response<SimulatedBody> {
    let promised = body.len();
    body.truncate(promised / 2);
    let mut response = ok_json(Vec::new());
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(promised));
    *response.body_mut() = SimulatedBody::truncated(Bytes::from(body), CLOSE_DELAY);
    response
}

fn bad_request(
    api: Api,
    status: StatusCode,
    message: &str,
    param: Option<&'static str>,
) -> Response<SimulatedBody> {
    let kind = "invalid_request_error";
    json(status, ErrorBody { message, kind, anthropic_kind: kind, param, code: None }.write(api))
}

fn unauthorized(api: Api) -> Response<SimulatedBody> {
    let body = ErrorBody {
        message: "missing or invalid API key; send it as `Authorization: Bearer …` or `x-api-key: …`",
        kind: "invalid_request_error",
        anthropic_kind: "authentication_error",
        param: None,
        code: Some("invalid_api_key"),
    };
    json(StatusCode::UNAUTHORIZED, body.write(api))
}

fn unknown_model(api: Api, name: &str) -> Response<SimulatedBody> {
    let known: Vec<&str> = SimulatedModel::profiles().map(|(name, _)| name).collect();
    let message = format!(
        "unknown model `{name}`; expected one of {}, or a name such as `sim-p0.85-t0.1`",
        known.join(", ")
    );
    let body = ErrorBody {
        message: &message,
        kind: "invalid_request_error",
        anthropic_kind: "not_found_error",
        param: Some("model"),
        code: Some("model_not_found"),
    };
    json(StatusCode::NOT_FOUND, body.write(api))
}

fn no_such_route(method: &Method, path: &str) -> Response<SimulatedBody> {
    let known = ["/v1/models", "/stats", "/stats/reset"].contains(&path) || Api::by_path(path).is_some();
    let status = if known { StatusCode::METHOD_NOT_ALLOWED } else { StatusCode::NOT_FOUND };
    let message = format!(
        "unknown route {method} {path}; expected POST /v1/chat/completions, /v1/completions, /v1/messages and \
         /stats/reset, or GET /v1/models and /stats"
    );
    bad_request(Api::Chat, status, &message, None)
}
