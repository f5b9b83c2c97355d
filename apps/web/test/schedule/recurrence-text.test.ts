import { getTexts, type Language } from '@carillon/texts';
import t from 'tap';
import {
  describeRecurrence,
  describeSchedule,
  parseCron,
  type TaskSchedule,
  toRecurrence,
} from '../../src/components/schedule/recurrence-text.ts';

const describe = (pattern: string, language: Language = 'en') => {
  const words = parseCron(pattern);
  return words && describeRecurrence(words, getTexts(language));
};

t.test('A pattern that words can say is said in words', async (t) => {
  const said = {
    '* * * * *': 'Every minute',
    '*/15 * * * *': 'Every 15 minutes',
    '0 * * * *': 'Every hour',
    '5 */6 * * *': 'Every 6 hours at minute 5',
    '0 8-20 * * *': 'Every hour from 08:00 to 20:00',
    '30 2 * * *': 'Every day at 02:30',
    '30 2 * * 0-6': 'Every day at 02:30',
    '30 17 * * 1-5': 'Weekdays at 17:30',
    '30 17 * * mon-FRI': 'Weekdays at 17:30',
    '0 10 * * 0,6': 'Weekends at 10:00',
    '0 16 * * FRI': 'Fridays at 16:00',
    '0 9 * * 1,3,7': 'Mondays, Wednesdays and Sundays at 09:00',
    '0 6 1 * *': '1st of every month at 06:00',
    '0 6 31 * *': '31st of every month that has it at 06:00',
    '0 6 L * *': 'Last day of every month at 06:00',
    '30 8,20 * * *': 'Every day at 08:30 and 20:30',
    '0 9,17 * * 1-5': 'Weekdays at 09:00 and 17:00',
    '0 9 * * 1#2': 'Second Monday of every month at 09:00',
    '0 9 * * 0#1': 'First Sunday of every month at 09:00',
    '0 9 * * 5L': 'Last Friday of every month at 09:00',
    '0 8 24 12 *': 'Every year on 24 December at 08:00',
    '0 8 29 2 *': 'Every year on 29 February at 08:00',
    '0 9 1 */3 *': '1st of every 3rd month at 09:00',
    '0 9 L */6 *': 'Last day of every 6th month at 09:00',
  };
  for (const [pattern, words] of Object.entries(said)) t.equal(describe(pattern), words, pattern);
});

t.test('The words are Portuguese too', async (t) => {
  const patterns = {
    '*/15 * * * *': 'A cada 15 minutos',
    '5 */6 * * *': 'A cada 6 horas no minuto 5',
    '0 1-13 * * *': 'A cada hora, da 01:00 às 13:00',
    '0 8 * * *': 'Todos os dias às 08:00',
    '30 1 * * 1-5': 'De segunda a sexta à 01:30',
    '0 9 * * 1,3,7': 'Segundas, quartas e domingos às 09:00',
    '0 6 1 * *': 'Dia 1 de cada mês às 06:00',
    '0 9 1 */3 *': 'Dia 1 a cada 3 meses às 09:00',
    '30 8,20 * * *': 'Todos os dias às 08:30 e 20:30',
    '0 9 * * 1#2': 'Segunda segunda-feira de cada mês às 09:00',
    '0 9 * * 6L': 'Último sábado de cada mês às 09:00',
    '0 8 24 12 *': 'Todo ano em 24 de dezembro às 08:00',
  };
  for (const [pattern, words] of Object.entries(patterns)) t.equal(describe(pattern, 'pt-BR'), words, pattern);
});

t.test('A pattern that words would change is not said in words', async (t) => {
  const patterns = [
    '*/7 * * * *',
    '0 */5 * * *',
    '*/5 9 * * *',
    '0 9 1 * 1',
    '0 9 * 3 *',
    '0 9 31 */3 *',
    '0 9 1 */5 *',
    '0 9 1 */3 1',
    '0 9 1 */1 *',
    '0 9,17 1 * *',
    '0 17,9 * * *',
    '0 9,9 * * *',
    '0 9,13,17 * * *',
    '0 9,17 * * 1#2',
    '0 9 * * 1#2,3#2',
    '0 9 1 1,7 *',
    '0 9 31 2 *',
    '0 9 30 2 *',
    '0 9 31 4 *',
    '0 9,17 24 12 *',
    '0 9 LW * *',
    '0 9 1,15 * *',
    '0 8-20/2 * * *',
    '0 * * * 1-5',
    '0 9 * * 1-5/2',
    '5/10 * * * *',
    '0 0 9 * * *',
    '@daily',
    '',
  ];
  for (const pattern of patterns) t.equal(describe(pattern), null, pattern);
});

t.test('A task that runs every n days, weeks or months says so', async (t) => {
  const task = { scheduledFor: '2026-03-30T08:00:00Z', recurrencePattern: null, interval: 2, timezone: 'UTC' };
  const describeBoth = (recurrence: TaskSchedule['recurrence']) =>
    (['en', 'pt-BR'] as const).map((language) => describeSchedule({ ...task, recurrence }, getTexts(language)));
  t.same(describeBoth('daily'), ['Every 2 days at 08:00', 'A cada 2 dias às 08:00']);
  t.same(describeBoth('weekly'), ['Mondays at 08:00, every 2 weeks', 'Segundas às 08:00, a cada 2 semanas']);
  t.equal(describeBoth('monthly')[0], '30th of every 2nd month, or its last day, at 08:00');
});

t.test('A word of recurrence is said by the clock of the time zone of its task', async (t) => {
  const say = (schedule: Partial<TaskSchedule>) => {
    const words = toRecurrence({
      scheduledFor: '2026-03-30T22:30:00.000Z',
      recurrence: 'daily',
      recurrencePattern: null,
      timezone: 'Europe/Berlin',
      ...schedule,
    });
    return words && describeRecurrence(words, getTexts('en'));
  };
  t.equal(say({}), 'Every day at 00:30');
  t.equal(say({ recurrence: 'weekly' }), 'Tuesdays at 00:30');
  t.equal(say({ recurrence: 'weekly', scheduledFor: '2026-03-29T08:00:00Z' }), 'Sundays at 10:00');
  t.equal(say({ recurrence: 'monthly' }), 'Last day of every month at 00:30');
  t.equal(say({ recurrence: 'monthly', timezone: 'UTC' }), '30th of every month, or its last day, at 22:30');
  t.equal(say({ recurrence: 'once' }), 'Once');
  t.equal(say({ recurrence: 'weekly', recurrencePattern: '0 9 1 * 1' }), null);
});
