import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Req,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { type Claims, LIMIT, printReady } from './server.ts';
import { createSessionAndTask } from './session-and-task.ts';

// Node does not run TypeScript decorators, so they are called as functions.
const { verify, find: findSessionAndTask } = await createSessionAndTask();

interface Request {
  headers: { authorization?: string };
  claims: Claims;
}

class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<Request>();
    request.claims = verify(request.headers.authorization);
    return true;
  }
}
Injectable()(TokenGuard);

class UserThrottlerGuard extends ThrottlerGuard {
  protected override async getTracker(request: Record<string, unknown>) {
    return (request as unknown as Request).claims.sub;
  }
}
Injectable()(UserThrottlerGuard);
// The metadata that the compiler would emit for the inherited constructor.
for (const key of ['design:paramtypes', 'self:paramtypes']) {
  const metadata = Reflect.getMetadata(key, ThrottlerGuard);
  if (metadata) Reflect.defineMetadata(key, metadata, UserThrottlerGuard);
}

class TasksController {
  async find(id: string, request: Request) {
    const { session, task } = await findSessionAndTask(request.claims, Number(id));
    if (!session) throw new UnauthorizedException();
    if (!task) throw new NotFoundException();
    return { success: true, task };
  }
}
const { prototype } = TasksController;
const find = Object.getOwnPropertyDescriptor(prototype, 'find') as PropertyDescriptor;
Param('id')(prototype, 'find', 0);
Req()(prototype, 'find', 1);
Get(':id')(prototype, 'find', find);
UseGuards(TokenGuard, UserThrottlerGuard)(prototype, 'find', find);
Controller('tasks')(TasksController);

class AppModule {}
Module({
  imports: [ThrottlerModule.forRoot([{ ttl: LIMIT.windowMs, limit: LIMIT.max }])],
  controllers: [TasksController],
})(AppModule);

const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');
printReady((app.getHttpServer().address() as AddressInfo).port);
