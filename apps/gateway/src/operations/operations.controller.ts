import { Controller } from '@nestjs/common';
import { operations } from '@rondo/contract/api';
import { Route } from '../http/route';
import { DeploymentHealth } from './deployment-health';

@Controller()
export class OperationsController {
  constructor(private readonly health: DeploymentHealth) {}

  @Route(operations.getDeploymentHealth)
  getDeploymentHealth() {
    return this.health.read();
  }
}
