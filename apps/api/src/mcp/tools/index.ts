import type { Tool } from '../tool.ts';
import { previewSchedule } from './preview-schedule.ts';

export const TOOLS: readonly Tool[] = [previewSchedule];
