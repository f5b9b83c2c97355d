import { Type } from '@sinclair/typebox';
import { ProcessMessageInput, ProcessMessageResult } from '../../agent.ts';
import { userAction } from './define.ts';

export const agentActions = {
  askAgent: userAction(ProcessMessageInput, Type.Omit(ProcessMessageResult, ['success'])),
};
