import { Controller } from '@nestjs/common';
import { evaluationLimits, evaluations as routes } from '@rondo/contract/api';
import { Evaluations } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';

@Controller()
export class EvaluationsController {
  constructor(private readonly evaluations: Evaluations) {}

  @Route(routes.storeEvaluation)
  storeEvaluation({ address, body }: RouteInput<typeof routes.storeEvaluation>) {
    return this.evaluations.store({ ...address, ...body, most: evaluationLimits.evaluations });
  }

  @Route(routes.listEvaluations)
  listEvaluations({ address, query }: RouteInput<typeof routes.listEvaluations>) {
    return this.evaluations.list({ ...address, ...query });
  }

  @Route(routes.getEvaluation)
  getEvaluation({ address }: RouteInput<typeof routes.getEvaluation>) {
    return this.evaluations.get(address);
  }

  @Route(routes.deleteEvaluation)
  deleteEvaluation({ address }: RouteInput<typeof routes.deleteEvaluation>) {
    return this.evaluations.delete(address);
  }
}
