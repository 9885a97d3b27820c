import { modelsAndTools } from './rows/models-and-tools.mjs';
import { runs } from './rows/runs.mjs';
import { trafficAndMoney } from './rows/traffic-and-money.mjs';

/**
 * Rows of panels, three beside each other. `shows` maps the label of a line to its expression, `{{label}}` for one line per
 * series. Metrics are those of docs/operations.md; the namespace is added to each.
 */
const rows = [...runs, ...modelsAndTools, ...trafficAndMoney];

const datasource = { type: 'prometheus', uid: '${datasource}' };
const panelsPerLine = 3;
const panelWidth = 24 / panelsPerLine;
const panelHeight = 8;

/**
 * deploy/monitoring/dashboard.json: the dashboard in Grafana's own format, which Grafana 10 and later import.
 *
 * @returns {object}
 */
export function dashboard() {
  return {
    uid: 'rondo',
    title: 'Rondo',
    description: 'Runs, workers, models, tools, streams, money and dependencies of a Rondo installation.',
    tags: ['rondo'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    templating: { list: [datasourceVariable, namespaceVariable] },
    annotations: { list: [] },
    links: [],
    panels: laidOut(rows),
  };
}

const datasourceVariable = {
  name: 'datasource',
  label: 'Prometheus',
  type: 'datasource',
  query: 'prometheus',
  hide: 0,
  includeAll: false,
  multi: false,
  options: [],
  refresh: 1,
  regex: '',
  skipUrlSync: false,
};

/** "All" matches series without a namespace, too: a Prometheus outside of Kubernetes has none. */
const namespaceVariable = {
  name: 'namespace',
  label: 'Namespace',
  type: 'query',
  datasource,
  query: { query: 'label_values(rondo_dependency_up, namespace)', refId: 'namespace' },
  current: { selected: true, text: ['All'], value: ['$__all'] },
  allValue: '.*',
  includeAll: true,
  multi: true,
  hide: 0,
  options: [],
  refresh: 2,
  regex: '',
  skipUrlSync: false,
  sort: 1,
};

/** Each row is a heading over the lines of its panels. */
function laidOut(described) {
  const panels = [];
  let y = 0;
  for (const { title, panels: ofRow } of described) {
    panels.push(heading(panels.length + 1, title, y));
    y += 1;
    for (const [index, panel] of ofRow.entries()) {
      const x = (index % panelsPerLine) * panelWidth;
      const line = Math.floor(index / panelsPerLine);
      const gridPos = { h: panelHeight, w: panelWidth, x, y: y + line * panelHeight };
      panels.push(toPanel(panel, { id: panels.length + 1, gridPos }));
    }
    y += Math.ceil(ofRow.length / panelsPerLine) * panelHeight;
  }
  return panels;
}

const heading = (id, title, y) => ({
  id,
  type: 'row',
  title,
  collapsed: false,
  gridPos: { h: 1, w: 24, x: 0, y },
  panels: [],
});

function toPanel({ title, about = '', unit = 'short', stacked = false, single = false, shows }, place) {
  return {
    ...place,
    type: single ? 'stat' : 'timeseries',
    title,
    description: about,
    datasource,
    fieldConfig: { defaults: { unit, min: 0, ...(single ? {} : { custom: lines(stacked) }) }, overrides: [] },
    options: single ? statOptions : lineOptions,
    targets: Object.entries(shows).map(([legendFormat, expression], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr: inNamespace(expression),
      legendFormat,
      range: true,
    })),
  };
}

const lines = (stacked) => ({
  drawStyle: 'line',
  fillOpacity: stacked ? 30 : 10,
  lineWidth: 1,
  showPoints: 'never',
  stacking: { group: 'A', mode: stacked ? 'normal' : 'none' },
});

const lineOptions = {
  legend: { calcs: ['lastNotNull'], displayMode: 'list', placement: 'bottom', showLegend: true },
  tooltip: { mode: 'multi', sort: 'desc' },
};

const statOptions = {
  colorMode: 'value',
  graphMode: 'none',
  reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
};

/** Every metric with a matcher for the namespace. */
const inNamespace = (expression) =>
  expression.replace(/\b(rondo_\w+|ALERTS)(\{)?/g, (_, metric, brace) => {
    return `${metric}{namespace=~"$namespace"${brace ? ',' : '}'}`;
  });
