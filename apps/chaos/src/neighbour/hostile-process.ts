import { fork } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { constants, setPriority } from 'node:os';
import { hostileLoads } from './hostile-loads';
import { type Tenant, type TenantAddress, toTenant } from './tenant';

interface Order {
  readonly tenant: TenantAddress;
  readonly forMs: number;
}

/**
 * Does everything hostile at once for so many milliseconds, in a process of its own: in the process that measures, its
 * own work would delay what is measured. That process gets the processor last, because the clients of a real attacker are
 * on other machines; what it makes the deployment do counts in full.
 */
export async function attack({ client: { url }, key, address }: Tenant, forMs: number): Promise<void> {
  const child = fork(__filename);
  const ended = once(child, 'exit');
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const order: Order = { tenant: { url, key, address }, forMs };
  child.send(order);
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`The process of the hostile tenant ended with code ${code}.`);
}

async function carryOut({ tenant, forMs }: Order): Promise<void> {
  const over = AbortSignal.timeout(forMs);
  setMaxListeners(0, over); // hundreds of lanes and sockets wait for it
  const hostile = toTenant(tenant);
  await Promise.all(hostileLoads.map((load) => load.run(hostile, over)));
  process.exit(0);
}

if (require.main === module) process.once('message', (order: Order) => void carryOut(order));
