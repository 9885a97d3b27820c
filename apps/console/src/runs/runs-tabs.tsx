import { Tabs } from '../ui/tabs.tsx';

const tabs = [
  { to: '/runs', name: 'List' },
  { to: '/runs/errors', name: 'Errors' },
];

export const RunsTabs = () => <Tabs label="Runs" tabs={tabs} />;
