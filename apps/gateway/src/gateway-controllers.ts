import type { Type } from '@nestjs/common';
import { AccountAdministrationController } from './accounts/account-administration.controller';
import { AccountListController } from './accounts/account-list.controller';
import { ApiKeysController } from './accounts/api-keys.controller';
import { SettingsController } from './accounts/settings.controller';
import { AgentVersionsController } from './agents/agent-versions.controller';
import { AgentsController } from './agents/agents.controller';
import { ApprovalsController } from './approvals/approvals.controller';
import { AuditController } from './audit/audit.controller';
import { OperationsController } from './operations/operations.controller';
import { BalanceController } from './billing/balance.controller';
import { UsageController } from './billing/usage.controller';
import { BlobsController } from './blobs/blobs.controller';
import { ClientTokensController } from './users/client-tokens.controller';
import { UsersController } from './users/users.controller';
import { CatalogController } from './catalog/catalog.controller';
import { FilesController } from './files/files.controller';
import { WatchController } from './live/watch.controller';
import { McpConnectPagesController } from './mcp-connections/mcp-connect-pages.controller';
import { McpConnectionsController } from './mcp-connections/mcp-connections.controller';
import { McpServersController } from './mcp-tools/mcp-servers.controller';
import { McpToolsController } from './mcp-tools/mcp-tools.controller';
import { ProjectsController } from './projects/projects.controller';
import { PublicReadsController } from './projects/public-reads.controller';
import { RewindsController } from './runs/rewinds.controller';
import { RunReadsController } from './runs/run-reads.controller';
import { RunsController } from './runs/runs.controller';
import { SandboxBrowserController } from './sandboxes/sandbox-browser.controller';
import { SandboxFilesController } from './sandboxes/sandbox-files.controller';
import { SandboxesController } from './sandboxes/sandboxes.controller';
import { SitesController } from './sites/sites.controller';
import { SecretsController } from './secrets/secrets.controller';
import { MemoryController } from './memory/memory.controller';
import { EvaluationsController } from './evaluations/evaluations.controller';
import { SkillsController } from './skills/skills.controller';
import { SessionsController } from './sessions/sessions.controller';
import { MessagesController } from './threads/messages.controller';
import { ThreadsController } from './threads/threads.controller';
import { CallerCallsController } from './tool-calls/caller-calls.controller';
import { HooksController } from './triggers/hooks.controller';
import { SchedulesController } from './triggers/schedules.controller';
import { WebhookTriggersController } from './triggers/webhook-triggers.controller';
import { WebhookDeliveriesController } from './webhooks/webhook-deliveries.controller';
import { WebhookEndpointsController } from './webhooks/webhook-endpoints.controller';

/** Everything that answers HTTP requests, but for façades. */
export const controllers: Type[] = [
  AgentsController,
  AgentVersionsController,
  ProjectsController,
  PublicReadsController,
  ThreadsController,
  MessagesController,
  RunsController,
  RunReadsController,
  RewindsController,
  ApprovalsController,
  CallerCallsController,
  McpConnectionsController,
  McpConnectPagesController,
  McpServersController,
  McpToolsController,
  WatchController,
  BlobsController,
  FilesController,
  CatalogController,
  UsageController,
  BalanceController,
  SandboxesController,
  SitesController,
  SchedulesController,
  WebhookTriggersController,
  HooksController,
  WebhookDeliveriesController,
  WebhookEndpointsController,
  SecretsController,
  EvaluationsController,
  SkillsController,
  MemoryController,
  SandboxBrowserController,
  SandboxFilesController,
  AccountAdministrationController,
  AccountListController,
  ApiKeysController,
  SettingsController,
  ClientTokensController,
  UsersController,
  SessionsController,
  AuditController,
  OperationsController,
];
