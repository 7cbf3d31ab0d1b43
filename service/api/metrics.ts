/** Counters, gauges and one histogram in Prometheus's text format (version 0.0.4). */

/** Upper ends in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1];

export interface Gauge {
  name: string;
  help: string;
  type: 'gauge' | 'counter';
  /** NaN is left out: Prometheus then sees no sample. */
  read(): number | { labels: Record<string, string>; value: number }[];
}

export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #buckets = new Array<number>(BUCKETS.length).fill(0);
  #count = 0;
  #sumSeconds = 0;
  readonly #gauges: Gauge[] = [];

  add(gauge: Gauge): void {
    this.#gauges.push(gauge);
  }

  /** `route` is the pattern, not the address, so that the number of series is bounded. */
  observeRequest(request: { method: string; route: string; status: number; seconds: number }): void {
    const { method, route, status, seconds } = request;
    const labels = labelled({ method, route, status: String(status) });
    this.#requests.set(labels, (this.#requests.get(labels) ?? 0) + 1);
    this.#count++;
    this.#sumSeconds += seconds;
    for (let i = 0; i < BUCKETS.length; i++) if (seconds <= BUCKETS[i]!) this.#buckets[i]!++;
  }

  text(): string {
    const lines: string[] = [];
    heading(lines, { name: 'leo_abr_http_requests_total', help: 'Requests answered.', type: 'counter' });
    for (const [labels, count] of this.#requests) lines.push(`leo_abr_http_requests_total${labels} ${count}`);
    const name = 'leo_abr_http_request_seconds';
    heading(lines, { name, help: 'Time to answer, event streams excepted.', type: 'histogram' });
    BUCKETS.forEach((end, i) => {
      lines.push(`${name}_bucket{le="${end}"} ${this.#buckets[i]}`);
    });
    lines.push(`${name}_bucket{le="+Inf"} ${this.#count}`, `${name}_sum ${this.#sumSeconds}`);
    lines.push(`${name}_count ${this.#count}`);
    for (const gauge of this.#gauges) {
      const value = gauge.read();
      const samples = typeof value === 'number' ? [{ labels: {}, value }] : value;
      const known = samples.filter((sample) => !Number.isNaN(sample.value));
      if (known.length === 0) continue;
      heading(lines, gauge);
      for (const sample of known) lines.push(`${gauge.name}${labelled(sample.labels)} ${sample.value}`);
    }
    return `${lines.join('\n')}\n`;
  }
}

function heading(lines: string[], { name, help, type }: { name: string; help: string; type: string }): void {
  lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
}

function labelled(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, '_')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
