export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** The time in seconds, and the value. */
  readonly value: readonly [number, string];
}

export interface PrometheusRequest {
  /** Its data, logs and process file are below it. */
  directory: string;
  /** A data directory whose unpacked distribution packages may be used. */
  packagesDirectory: string;
  /** `url` is the address of a service, `name` becomes the label `instance`. */
  targets: readonly { readonly name: string; readonly url: string }[];
  /** A file of rules, as YAML. */
  rules: string;
}

/** A Prometheus for tests: it reads the targets' metrics every three seconds, the least that a service with a dead dependency needs to answer, and evaluates the rules every second. */
export declare class PrometheusServer {
  private constructor();
  static start(request: PrometheusRequest): Promise<PrometheusServer>;
  readonly url: string;
  /** The series of an expression now; rejects where it cannot be evaluated. */
  query(expression: string): Promise<Series[]>;
  /** The names of all metrics that it has read. */
  metricNames(): Promise<string[]>;
  /** The names of the alerts that fire. */
  firing(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Runs promtool; rejects with its output if it finds something wrong. */
export function promtool(
  args: readonly string[],
  options: { packagesDirectory: string; cwd?: string },
): Promise<{ stdout: string; stderr: string }>;
