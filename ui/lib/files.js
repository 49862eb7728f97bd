// Reads the files of a run, and what charts should show of them. It shares no code with the tool's
// charts.

import fs from "node:fs";
import path from "node:path";

const lines = (file) => (fs.existsSync(file)
  ? fs.readFileSync(file, "utf8").split("\n").slice(0, -1).filter((l) => l !== "").map((l) => JSON.parse(l)) : []);

export function readRun(dir) {
  const json = (name) => {
    const file = path.join(dir, name);
    return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : null;
  };
  return {
    dir, run: json("run.json"), curves: json("curves.json"),
    intervals: lines(path.join(dir, "intervals.ndjson")), events: lines(path.join(dir, "events.ndjson")),
  };
}

export const field = (object, dotted) => dotted.split(".").reduce((o, key) => o?.[key], object) ?? null;

const counts = new Set(["scheduled", "acked", "delivered", "shed", "redelivered", "acked_by_queue"]);
// Counts cover the time between two readings, if the run kept that, otherwise the interval.
export function seconds(i) {
  const read = i.read_to_ns - i.read_from_ns;
  return (read > 0 ? read : i.end_ns - i.start_ns) / 1e9;
}
const perSecond = (interval, count) => (count === null || count === undefined ? null : count / seconds(interval));

// valueIn is an interval's value of a figure, for a series with a name; null if it is not known.
function valueIn(interval, figure, series, place) {
  const last = figure.split(".").at(-1);
  if (counts.has(figure)) return perSecond(interval, interval[figure]);
  const open = interval.in_flight_records + interval.backlog_records;
  if (figure === "time_lag_ns" && interval.undelivered_records === undefined && interval.time_lag_ns === 0 && open > 0) {
    return null; // it is not known which records have arrived
  }
  if (figure === "bound_records" && interval.phase === "drain") return null;
  if (figure.startsWith("time.")) {
    const time = interval.time?.[figure.split(".")[1]];
    // A percentile is drawn if at least ten values lie beyond it.
    const beyond = { p50_ns: 0.5, p90_ns: 0.1, p99_ns: 0.01 }[last];
    if (!(time?.count > 0) || (beyond && Math.round(time.count * beyond * 1e6) / 1e6 < 10)) return null;
    return time[last];
  }
  if (figure.startsWith("host.")) {
    const value = interval.host?.[last] ?? null;
    return last.endsWith("_ratio") ? value : perSecond(interval, value);
  }
  if (figure.startsWith("brokers.")) {
    const broker = interval.brokers?.find((b) => `broker ${b.id}` === series);
    return last.startsWith("disk_") ? perSecond(interval, broker?.[last]) : broker?.[last] ?? null;
  }
  if (figure === "broker_cpu_cores") {
    const of = Number(series.match(/of (\d+)/)[1]);
    return interval.broker_cpu_cores?.length === of ? interval.broker_cpu_cores[place] : null;
  }
  if (figure.startsWith("processes.")) return interval.processes?.find((p) => p.name === series)?.[last] ?? null;
  const partition = series.match(/^partition (\d+)$/);
  if (figure.endsWith("_partition") && partition) {
    const value = interval[figure]?.[Number(partition[1])] ?? null;
    return figure.startsWith("backlog") ? value : perSecond(interval, value);
  }
  return interval[figure] ?? null;
}

// steps returns the values of a series over time, with their times. place counts series of the
// same name and figure in one panel.
export function steps(recorded, figure, series, place = 0) {
  if (figure === "lag_records") return lagSteps(recorded.intervals);
  return recorded.intervals.map((i) => ({ from: i.start_ns, to: i.end_ns, value: valueIn(i, figure, series, place) }));
}

// lagSteps returns the samples of the lag, each until the next one; without samples, the values of
// intervals.
function lagSteps(intervals) {
  const samples = intervals.flatMap((i) => i.lag_samples ?? []);
  if (samples.length === 0) {
    return intervals.map((i) => ({ from: i.start_ns, to: i.end_ns, value: i.lag_records ?? null }));
  }
  samples.sort((a, b) => a.at_ns - b.at_ns);
  const begin = intervals[0].start_ns;
  const end = intervals.at(-1).end_ns;
  return samples.map((s, k) => ({
    from: Math.max(s.at_ns, begin), to: Math.max(samples[k + 1]?.at_ns ?? end, s.at_ns + 1), value: s.lag_records,
  })).filter((step) => step.to > begin);
}

// range is the lowest and the highest value of all partitions without a line of their own.
export function range(recorded, figure, lined) {
  return recorded.intervals.map((interval) => {
    const all = (interval[figure] ?? []).filter((_, p) => !lined.includes(`partition ${p}`))
      .map((v) => (figure.startsWith("backlog") ? v : perSecond(interval, v)));
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return { from: interval.start_ns, to: interval.end_ns, low, high, none: all.length === 0 };
  });
}

// percentiles returns the points of a curve of curves.json: share and time.
export function percentiles(recorded, metric) {
  const ns = recorded.curves?.ns?.[metric];
  if (!ns?.length) return null;
  return ns.map((value, k) => ({ share: recorded.curves.percentiles[k] / 100, value })).filter((p) => p.share < 1);
}

// moments returns the times of a run that a chart may mark.
export function moments(recorded) {
  const phases = recorded.run.run?.phases ?? [];
  const changes = recorded.run.lag?.changes ?? [];
  return new Set([
    ...phases.flatMap((p) => [p.start_ns, p.end_ns]), ...changes.map((c) => c.at_ns),
    ...recorded.events.map((e) => e.at_ns),
  ]);
}
