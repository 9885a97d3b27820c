export const modelsAndTools = [
  {
    title: 'Models',
    panels: [
      {
        title: 'Calls by provider and outcome',
        unit: 'cpm',
        shows: {
          '{{provider}} {{outcome}}':
            'sum by (provider, outcome) (rate(rondo_model_calls_total[$__rate_interval])) * 60',
        },
      },
      {
        title: 'Failed requests, also those that were repeated',
        unit: 'cpm',
        shows: {
          '{{provider}} {{code}}':
            'topk(5, sum by (provider, code) (rate(rondo_model_errors_total[$__rate_interval]))) * 60',
        },
      },
      { title: 'Calls that run now', shows: { '{{instance}}': 'sum by (instance) (rondo_model_calls_running)' } },
      {
        title: 'Duration of calls, 95th percentile',
        unit: 's',
        shows: {
          '{{model}}':
            'histogram_quantile(0.95, sum by (le, model) (rate(rondo_model_call_seconds_bucket[$__rate_interval])))',
        },
      },
      {
        title: 'Time to the first output, 95th percentile',
        unit: 's',
        shows: {
          '{{model}}':
            'histogram_quantile(0.95, sum by (le, model) (rate(rondo_model_first_output_seconds_bucket[$__rate_interval])))',
        },
      },
      {
        title: 'Tokens per second',
        about: 'Cached tokens are a part of the input.',
        shows: { '{{kind}}': 'sum by (kind) (rate(rondo_model_tokens_total[$__rate_interval]))' },
      },
    ],
  },
  {
    title: 'Tools and executors',
    panels: [
      {
        title: 'How tool calls end',
        about: 'From the log, so also calls whose executor died: unknown.',
        unit: 'cpm',
        stacked: true,
        shows: { '{{outcome}}': 'sum by (outcome) (rate(rondo_tool_calls_total[$__rate_interval])) * 60' },
      },
      {
        title: 'Tools that are called most',
        unit: 'cpm',
        shows: { '{{tool}}': 'topk(5, sum by (tool) (rate(rondo_tool_calls_total[$__rate_interval]))) * 60' },
      },
      {
        title: 'Duration of calls, 95th percentile',
        unit: 's',
        shows: {
          '{{tool}}':
            'topk(5, histogram_quantile(0.95, sum by (le, tool) (rate(rondo_tool_call_seconds_bucket[$__rate_interval]))))',
        },
      },
      {
        title: 'Slots of the executors',
        shows: {
          slots: 'sum(rondo_tool_slots)',
          'in use': 'sum(rondo_tool_slots_in_use)',
          waiting: 'sum(rondo_tool_calls_waiting)',
          running: 'sum(rondo_tool_calls_running)',
        },
      },
      {
        title: 'Sandboxes',
        shows: {
          'at most awake': 'sum(rondo_sandboxes_max)',
          awake: 'sum(rondo_sandboxes_awake)',
          'calls that wait for one': 'sum(rondo_sandbox_places_waiting)',
          warm: 'sum(rondo_sandboxes_warm)',
          'warm ones used': 'sum(rondo_sandboxes_warm_used)',
        },
      },
      {
        title: 'Executors with a usable sandbox',
        about: '0: it refuses tools that need a sandbox.',
        shows: { '{{instance}}': 'min by (instance) (rondo_sandbox_usable)' },
      },
    ],
  },
];
