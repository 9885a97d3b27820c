export const trafficAndMoney = [
  {
    title: 'Events, streams and requests',
    panels: [
      {
        title: 'Subscribers',
        shows: {
          subscriptions: 'sum(rondo_gateway_watchers)',
          'watched runs': 'sum(rondo_gateway_watched_runs)',
          connections: 'sum(rondo_gateway_connections)',
        },
      },
      {
        title: 'Events sent per second',
        shows: { '{{kind}}': 'sum by (kind) (rate(rondo_gateway_events_total[$__rate_interval]))' },
      },
      {
        title: 'How subscriptions end',
        about: 'stalled: the client did not read.',
        unit: 'cpm',
        shows: {
          '{{ending}}': 'sum by (ending) (rate(rondo_gateway_subscriptions_ended_total[$__rate_interval])) * 60',
        },
      },
      {
        title: 'Requests per second',
        shows: {
          '{{status}}': 'sum by (status) (rate(rondo_gateway_request_seconds_count[$__rate_interval]))',
        },
      },
      {
        title: 'Time to answer, 95th percentile',
        unit: 's',
        shows: {
          '{{method}}':
            'histogram_quantile(0.95, sum by (le, method) (rate(rondo_gateway_request_seconds_bucket[$__rate_interval])))',
        },
      },
      {
        title: 'Webhooks',
        unit: 'cpm',
        shows: {
          '{{outcome}}': 'sum by (outcome) (rate(rondo_webhook_attempts_total[$__rate_interval])) * 60',
          'given up': 'sum(rate(rondo_webhooks_given_up_total[$__rate_interval])) * 60',
        },
      },
    ],
  },
  {
    title: 'Money',
    panels: [
      {
        title: 'USD per hour',
        unit: 'currencyUSD',
        stacked: true,
        shows: { '{{model}}': 'sum by (model) (rate(rondo_model_cost_usd_total[$__rate_interval])) * 3600' },
      },
      {
        title: 'USD in this time range',
        unit: 'currencyUSD',
        single: true,
        shows: { 'all models': 'sum(increase(rondo_model_cost_usd_total[$__range]))' },
      },
      {
        title: 'Billed calls whose price is unknown',
        about: 'Their cost is missing here: set MODEL_PRICES.',
        unit: 'cpm',
        shows: { '{{model}}': 'sum by (model) (rate(rondo_model_calls_unpriced_total[$__rate_interval])) * 60' },
      },
    ],
  },
  {
    title: 'Dependencies and alerts',
    panels: [
      {
        title: 'Dependencies that answer',
        about: '0: at least one process does not reach it.',
        shows: { '{{dependency}}': 'min by (dependency) (rondo_dependency_up)' },
      },
      {
        title: 'Dependencies away, by process',
        shows: { '{{instance}} {{dependency}}': 'rondo_dependency_up == 0' },
      },
      {
        title: 'Alerts that fire',
        shows: { '{{alertname}} {{instance}}': 'ALERTS{alertstate="firing",alertname=~"Rondo.*"}' },
      },
    ],
  },
];
