import { type DynamicModule, Module } from '@nestjs/common';
import { HealthModule, MetricsModule } from '@rondo/platform';
import { Registry } from 'prom-client';
import { slotsOf } from './config';
import { RemoveWorkspaceResponder } from './remove-workspace.responder';
import { PlacementController } from './placement.controller';
import { Resources } from './resources';
import { RunEndResponder } from './run-end.responder';
import { ToolRunner } from './run-tool';
import { SandboxMetric } from './sandboxes/sandbox-metric';
import { SlotMetrics } from './slot-metrics';
import { ToolCallProcessor } from './tool-call.processor';
import { ToolMetrics } from './tool-metrics';

/** The wiring of one executor. Plain classes are built by hand here, so they stay plain. */
@Module({})
export class ToolExecutorModule {
  static with(resources: Resources): DynamicModule {
    const { config, nats, sandboxes, places, log } = resources;
    return {
      module: ToolExecutorModule,
      imports: [MetricsModule.register(config), HealthModule.register({ nats: () => nats.ping() })],
      controllers: [PlacementController],
      providers: [
        ToolCallProcessor,
        RemoveWorkspaceResponder,
        RunEndResponder,
        { provide: Resources, useValue: resources },
        { provide: ToolRunner, useValue: new ToolRunner(sandboxes, places, log) },
        { provide: ToolMetrics, inject: [Registry], useFactory: (registry: Registry) => new ToolMetrics(registry) },
        {
          provide: SlotMetrics,
          inject: [Registry, ToolCallProcessor],
          useFactory: (registry: Registry, calls: ToolCallProcessor) =>
            new SlotMetrics(registry, slotsOf(config), () => calls.load),
        },
        {
          provide: SandboxMetric,
          inject: [Registry],
          useFactory: (registry: Registry) => new SandboxMetric(registry, resources),
        },
      ],
    };
  }
}
