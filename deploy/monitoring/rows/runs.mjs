export const runs = [
  {
    title: 'Runs, and why they wait',
    panels: [
      {
        title: 'Runs that are not over',
        about:
          'queued: no worker yet. waiting_input, waiting_budget: a person. waiting_child: runs that they started. waiting_tool: results of their caller.',
        stacked: true,
        shows: { '{{status}}': 'max by (status) (rondo_runs)' },
      },
      {
        title: 'Wait of the run that is due longest',
        about: 'Runs that wait for a person or for their turn on a thread are not due.',
        unit: 's',
        shows: { 'due for': 'max(rondo_runs_due_oldest_seconds)' },
      },
      {
        title: 'Runs begin to wait for',
        unit: 'cpm',
        shows: { '{{reason}}': 'sum by (reason) (rate(rondo_runs_parked_total[$__rate_interval])) * 60' },
      },
      {
        title: 'Runs end',
        unit: 'cpm',
        stacked: true,
        shows: { '{{status}}': 'sum by (status) (rate(rondo_runs_ended_total[$__rate_interval])) * 60' },
      },
      {
        title: 'Why runs fail',
        unit: 'cpm',
        shows: {
          '{{reason}}':
            'topk(5, sum by (reason) (rate(rondo_runs_ended_total{status="failed"}[$__rate_interval]))) * 60',
        },
      },
      {
        title: 'How runs complete',
        unit: 'cpm',
        shows: {
          '{{reason}}':
            'topk(5, sum by (reason) (rate(rondo_runs_ended_total{status="completed"}[$__rate_interval]))) * 60',
        },
      },
    ],
  },
  {
    title: 'Queue and workers',
    panels: [
      {
        title: 'Places of the workers',
        about: 'You need places for the held and the due runs together.',
        shows: {
          places: 'sum(rondo_run_places)',
          held: 'sum(rondo_runs_held)',
          due: 'max(rondo_runs_due)',
        },
      },
      {
        title: 'How activations end',
        unit: 'cpm',
        shows: { '{{verdict}}': 'sum by (verdict) (rate(rondo_activations_total[$__rate_interval])) * 60' },
      },
      {
        title: 'Jobs that are not in Redis yet',
        shows: { jobs: 'max(rondo_outbox_jobs)', 'age of the oldest (s)': 'max(rondo_outbox_oldest_seconds)' },
      },
      {
        title: 'Places of the summarizers',
        shows: {
          places: 'sum(rondo_compaction_places)',
          held: 'sum(rondo_compactions_held)',
          due: 'max(rondo_compactions_due)',
        },
      },
      {
        title: 'How compactions end',
        unit: 'cpm',
        shows: { '{{outcome}}': 'sum by (outcome) (rate(rondo_compactions_total[$__rate_interval])) * 60' },
      },
      {
        title: 'Lag of event loops, 99th percentile',
        unit: 's',
        shows: { '{{instance}}': 'max by (instance) (rondo_nodejs_eventloop_lag_p99_seconds)' },
      },
      {
        title: 'CPU',
        about: 'Cores in use.',
        shows: { '{{instance}}': 'sum by (instance) (rate(rondo_process_cpu_seconds_total[$__rate_interval]))' },
      },
      {
        title: 'Memory',
        unit: 'bytes',
        shows: { '{{instance}}': 'sum by (instance) (rondo_process_resident_memory_bytes)' },
      },
      {
        title: 'Heap in use',
        unit: 'bytes',
        shows: { '{{instance}}': 'sum by (instance) (rondo_nodejs_heap_size_used_bytes)' },
      },
    ],
  },
];
