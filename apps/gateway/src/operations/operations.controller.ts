import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireRole } from '../auth/api-key.guard';
import { NoQuery } from '../http/no-query';
import { DeploymentHealth } from './deployment-health';
import { DeploymentHealthDto } from './deployment-health.dto';

@ApiTags('operations')
@Controller('v1/admin/health')
export class OperationsController {
  constructor(private readonly health: DeploymentHealth) {}

  @Get()
  @RequireRole('operator')
  @ApiOperation({
    summary: 'Read what the whole deployment does: queues, workers, executors; for its operator',
    description: 'Of one moment, as this gateway sees it. What a server that does not answer would say is null.',
  })
  @ApiOkResponse({ type: DeploymentHealthDto.Output })
  getDeploymentHealth(@NoQuery() _: object) {
    return this.health.read();
  }
}
