import { NatsContext } from '@nestjs/microservices';
import { ActiveRuns } from '@rondo/run-holder';
import { headers } from 'nats';
import { signalsController } from './signals.controller';

describe('attack: service credentials', () => {
  it('a stop that JetStream was made to send to the workers', () => {
    const activeRuns = new ActiveRuns();
    const stop = jest.spyOn(activeRuns, 'stop');
    const controller = new (signalsController('worker'))(activeRuns);
    const payload = { run_id: 'run_1', requested_at: new Date().toISOString(), reason: null };
    const bounced = headers();
    bounced.set('Nats-Stream', 'TOOL_RESULTS');

    controller.stop(payload, new NatsContext(['runs.stop', bounced]));
    expect(stop).not.toHaveBeenCalled();

    controller.stop(payload, new NatsContext(['runs.stop', undefined]));
    expect(stop).toHaveBeenCalledTimes(1);
  });
});
