import { describeModel } from './model.contract';
import { ScriptedModel, type Turn, breaksAfter, calls, says } from './scripted-model';

describeModel('ScriptedModel', (behaviour) => {
  const turn = (): Turn => {
    if ('replies' in behaviour) return says(behaviour.replies.join(''));
    if ('calls' in behaviour) return calls(behaviour.calls);
    if ('keepsSending' in behaviour) return says(behaviour.keepsSending);
    if ('breaksAfter' in behaviour) return breaksAfter(behaviour.breaksAfter);
    return [{ type: 'end', how: 'failed', error: { code: 'invalid_request', message: behaviour.refuses } }];
  };
  return { model: new ScriptedModel([turn()]), name: 'demo/coder' };
});
