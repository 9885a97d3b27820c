import { Tabs } from '../ui/tabs.tsx';

const tabs = [
  { to: '/schedules', name: 'Schedules' },
  { to: '/schedules/webhooks', name: 'Webhooks' },
];

export const TriggerTabs = () => <Tabs label="What starts runs" tabs={tabs} />;
