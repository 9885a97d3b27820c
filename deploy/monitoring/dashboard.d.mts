/** The Grafana dashboard, as JSON. */
export function dashboard(): object;
