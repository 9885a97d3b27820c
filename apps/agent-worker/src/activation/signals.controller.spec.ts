import { NatsContext } from '@nestjs/microservices';
import { ActiveRuns } from '@rondo/run-holder';
import { headers } from 'nats';
import { signalsController } from './signals.controller';

describe('attack: service credentials', () => {
  it('a stop that JetStream was made to send to the workers', () => {
    const activeRuns = new ActiveRuns();
    const stop = jest.spyOn(activeRuns, 'stop');
    const controller = new (signalsController('worker', {
      calls: { problem: undefined },
      servers: { readStarting: () => [] },
    }))(activeRuns);
    const payload = { run_id: 'run_1', requested_at: new Date().toISOString(), reason: null };
    const bounced = headers();
    bounced.set('Nats-Stream', 'TOOL_RESULTS');

    controller.stop(payload, new NatsContext(['runs.stop', bounced]));
    expect(stop).not.toHaveBeenCalled();

    controller.stop(payload, new NatsContext(['runs.stop', undefined]));
    expect(stop).toHaveBeenCalledTimes(1);
  });
});

describe('what a gateway asks of the holder of a run', () => {
  const notes = { name: 'notes', since: '2026-01-01T00:00:00.000Z' };
  const answer = (problem: string | undefined, starting: (typeof notes)[] = []) =>
    new (signalsController('worker', { calls: { problem }, servers: { readStarting: () => starting } }))(
      new ActiveRuns(),
    ).live({ run_id: 'run_1' });

  it('is answered with the reason why no call can be sent, where there is one', () => {
    expect(answer('The call store cannot be used.')).toEqual({
      streams: [],
      calls_problem: 'The call store cannot be used.',
    });
    expect(answer(undefined)).toEqual({ streams: [] });
  });

  it('is answered with the MCP servers that the run waits for', () => {
    expect(answer(undefined, [notes])).toEqual({ streams: [], starting_servers: [notes] });
  });
});
