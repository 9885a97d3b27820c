import { Tabs } from '../ui/tabs.tsx';

const tabs = [
  { to: '/runs', name: 'List' },
  { to: '/runs/errors', name: 'Errors' },
  { to: '/runs/evaluations', name: 'Evaluations' },
];

export const RunsTabs = () => <Tabs label="Runs" tabs={tabs} />;
