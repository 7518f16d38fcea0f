// Shows the progress of an active run, from server-sent events.

const live = document.querySelector("#live");
const number = (value) => value.toLocaleString("en-US");
const money = (cost) => (cost === null ? "–" : cost > 0 && cost < 0.1 ? cost.toFixed(4) : cost.toFixed(2));
const duration = (seconds) => {
  const whole = Math.round(seconds);
  if (whole < 1) return "under 1 s";
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
};
const put = (element, text) => {
  if (element && element.textContent !== text) element.textContent = text;
};
const fill = (bar, done, planned) => {
  bar.max = planned || 1;
  bar.value = done;
};

const showEval = (one) => {
  const body = live.querySelector(`tbody[data-eval="${CSS.escape(one.eval_id)}"]`);
  if (!body) return;
  const of = (name) => body.querySelector(`[data-of="${name}"]`);
  fill(of("bar"), one.done, one.planned);
  put(of("progress"), `${number(one.done)} of ${number(one.planned)}`);
  for (const name of ["cached", "truncated", "missing"]) put(of(name), number(one[name]));
  put(of("tokens"), number(one.prompt_tokens + one.completion_tokens));
  put(of("cost"), money(one.cost));
  put(of("rate"), one.per_second === null ? "–" : `${one.per_second.toFixed(1)}/s`);
  put(of("left"), one.seconds_left === null ? "–" : duration(one.seconds_left));
  put(of("note"), one.note ?? "");
  put(of("problem"), one.problem ?? "");
  body.querySelector("tr.notes-of").hidden = !one.note && !one.problem;
};

const show = (run) => {
  const sum = (of) => run.progress.map(of).reduce((a, b) => a + b, 0);
  const [done, planned] = [sum((one) => one.done), sum((one) => one.planned)];
  fill(document.querySelector("#whole"), done, planned);
  put(document.querySelector("#progress"), `${number(done)} of ${number(planned)}`);
  put(document.querySelector("#tokens"), number(sum((one) => one.prompt_tokens + one.completion_tokens)));
  if (run.progress.every((one) => one.cost !== null)) put(document.querySelector("#cost"), money(sum((one) => one.cost)));
  const isScoring = run.state === "judging"; // wording: allow
  const [scored, total] = run.judged ?? [0, 0]; // wording: allow
  const counts = total ? `, ${number(scored)} of ${number(total)}` : "";
  put(document.querySelector("#scoring"), isScoring ? ` · scoring responses${counts}` : "");
  const state = document.querySelector("#state");
  put(state, isScoring ? "scoring" : run.state);
  state.className = `state ${run.state}`;
  const reason = document.querySelector("#reason");
  put(reason, run.reason ?? "");
  reason.hidden = !run.reason;
  if (run.reason) put(document.querySelector("#cancel"), "Abort");
  run.progress.forEach(showEval);
};

if (live) {
  const events = new EventSource(live.dataset.events);
  events.addEventListener("progress", (event) => show(JSON.parse(event.data)));
  events.addEventListener("end", () => {
    events.close();
    location.reload();
  });
  addEventListener("pagehide", () => events.close());
}
