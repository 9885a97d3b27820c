import { Tabs } from '../ui/tabs.tsx';

const tabs = [
  { to: '/schedules', name: 'Schedules' },
  { to: '/schedules/webhooks', name: 'Webhooks in' },
  { to: '/schedules/endpoints', name: 'Webhooks out' },
];

export const TriggerTabs = () => <Tabs label="What starts runs, and what is told of them" tabs={tabs} />;
