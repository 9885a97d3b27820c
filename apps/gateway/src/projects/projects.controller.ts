import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Project } from '@rondo/contract';
import { type Caller, type ProjectAddress, Projects } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { NoQuery } from '../http/no-query';
import { ProjectParam } from '../http/path-params';
import { pendingResponse } from '../idempotency/idempotent-requests';
import { NewProjectDto, ProjectChangeDto, ProjectDto, ProjectPageDto, ProjectQueryDto } from './project.dto';

const locationOf = ({ id }: Project): string => `/v1/projects/${id}`;

@ApiTags('projects')
@Controller('v1/projects')
export class ProjectsController {
  constructor(private readonly projects: Projects) {}

  @Post()
  @Audited('project.create')
  @ApiOperation({ summary: 'Create a project' })
  @ApiCreatedResponse({ type: ProjectDto.Output, headers: { Location: { schema: { type: 'string' } } } })
  async createProject(
    @CurrentCaller() { accountId }: Caller,
    @Body() { name, is_public: isPublic, sandbox }: NewProjectDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const promised = pendingResponse(response, { status: 201, location: locationOf });
    const project = await this.projects.create({
      accountId,
      name,
      isPublic,
      sharesWorkspace: sandbox === 'project',
      promised,
    });
    response.location(locationOf(project));
    return project;
  }

  @Get()
  @ApiOperation({ summary: 'List projects, newest first' })
  @ApiOkResponse({ type: ProjectPageDto.Output })
  listProjects(@CurrentCaller() { accountId }: Caller, @Query() { limit, after }: ProjectQueryDto) {
    return this.projects.list({ accountId, limit, after });
  }

  @Get(':project_id')
  @ApiOperation({ summary: 'Read a project' })
  @ApiOkResponse({ type: ProjectDto.Output })
  getProject(@ProjectParam() address: ProjectAddress, @NoQuery() _: object) {
    return this.projects.get(address);
  }

  @Patch(':project_id')
  @Audited('project.change')
  @ApiOperation({ summary: 'Name a project, share it, or end its sharing' })
  @ApiOkResponse({ type: ProjectDto.Output })
  updateProject(
    @ProjectParam() { accountId, projectId }: ProjectAddress,
    @Body() { name, is_public: isPublic }: ProjectChangeDto,
  ) {
    return this.projects.update({ accountId, projectId, name, isPublic });
  }

  @Delete(':project_id')
  @Audited('project.delete')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a project without active runs, with its threads, runs, messages, images, files and workspaces',
    description: 'It is inaccessible at once; its data is deleted soon after.',
  })
  @ApiNoContentResponse()
  deleteProject(@ProjectParam() { accountId, projectId }: ProjectAddress) {
    return this.projects.delete({ accountId, projectId });
  }
}
