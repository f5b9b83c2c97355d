import type { Tool } from '../tool.ts';
import { cancelRun } from './cancel-run.ts';
import { createTask } from './create-task.ts';
import { deleteTask } from './delete-task.ts';
import { getRun } from './get-run.ts';
import { getTask } from './get-task.ts';
import { getUsage } from './get-usage.ts';
import { listAlerts } from './list-alerts.ts';
import { listChannels } from './list-channels.ts';
import { listRuns } from './list-runs.ts';
import { listTasks } from './list-tasks.ts';
import { listTemplates } from './list-templates.ts';
import { previewSchedule } from './preview-schedule.ts';
import { runTask } from './run-task.ts';
import { updateTask } from './update-task.ts';

export const TOOLS: readonly Tool[] = [
  previewSchedule,
  createTask,
  listTasks,
  getTask,
  updateTask,
  deleteTask,
  runTask,
  cancelRun,
  listRuns,
  getRun,
  listAlerts,
  getUsage,
  listChannels,
  listTemplates,
];
