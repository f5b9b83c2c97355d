import type { schedule as en } from '../en/schedule.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const WEEKDAYS = [
  ...['segunda', 'terça', 'quarta', 'quinta', 'sexta'].map((day) => `${day}-feira`),
  'sábado',
  'domingo',
];
const ORDINALS = ['Primeir', 'Segund', 'Terceir', 'Quart', 'Quint'];
const DAYS = ['segundas', 'terças', 'quartas', 'quintas', 'sextas', 'sábados', 'domingos'];

const at = (time: string) => `${time.startsWith('01') ? 'à' : 'às'} ${time}`;
const everyHours = (hours: number) => (hours === 1 ? 'A cada hora' : `A cada ${hours} horas`);
const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export const schedule: typeof en = {
  everyMinutes: (minutes) => (minutes === 1 ? 'A cada minuto' : `A cada ${minutes} minutos`),
  everyHours,
  everyHoursAt: (hours, minute) => `${everyHours(hours)} no minuto ${minute}`,
  everyHourBetween: (from, until) => `A cada hora, ${from.startsWith('01') ? 'da' : 'das'} ${from} ${at(until)}`,
  everyDay: (time) => `Todos os dias ${at(time)}`,
  weekdays: (time) => `De segunda a sexta ${at(time)}`,
  weekends: (time) => `Fins de semana ${at(time)}`,
  onDays: (days, time) => `${capitalize(formats.list(days.map((day) => DAYS[day - 1] ?? '')))} ${at(time)}`,
  monthly: (day, time) => `Dia ${day} de cada mês ${at(time)}`,
  monthlyOrLast: (day, time) => `Dia ${day} de cada mês, ou o último dia, ${at(time)}`,
  longMonths: (day, time) => `Dia ${day} dos meses que o têm ${at(time)}`,
  monthlyLast: (time) => `Último dia de cada mês ${at(time)}`,
  everyMonths: (months, day, time) => `Dia ${day} a cada ${months} meses ${at(time)}`,
  everyMonthsLast: (months, time) => `Último dia a cada ${months} meses ${at(time)}`,
  everyMonthsOrLast: (months, day, time) => `Dia ${day} a cada ${months} meses, ou o último dia, ${at(time)}`,
  nthWeekday: (nth, weekday, time) => {
    const ending = weekday < 6 ? 'a' : 'o';
    return `${nth === 'last' ? 'Últim' : ORDINALS[nth - 1]}${ending} ${WEEKDAYS[weekday - 1]} de cada mês ${at(time)}`;
  },
  everyYear: (date, time) => `Todo ano em ${date} ${at(time)}`,
  everyDays: (days, time) => `A cada ${days} dias ${at(time)}`,
  everyWeeks: (weeks, schedule) => `${schedule}, a cada ${weeks} semanas`,
  once: 'Uma vez',
  cron: (pattern) => parts`Cron ${pattern}`,
  zoneTime: (place) => `horário de ${place}`,

  notes: {
    pausedUntil: (moment) => `A tarefa está pausada até ${moment}.`,
    eitherDay: 'O padrão vale nos dias que correspondem ao dia do mês ou ao dia da semana.',
    bothDays: 'O padrão vale nos dias que correspondem ao dia do mês e ao dia da semana.',
    lastBeforeEnd: (moment) => `Esta é a última execução antes do fim da tarefa em ${moment}.`,
    lastRun: (maxRuns) =>
      maxRuns === 1 ? 'Esta é a única execução planejada.' : `Esta é a última de ${maxRuns} execuções planejadas.`,
    firstRun: 'Esta é a primeira execução. O padrão em si não inclui este horário.',
    shortMonth: (month, day) => `${month} não tem dia ${day}, então a execução é no último dia.`,
    clocksForward: (time, day, actualTime, actualDay) =>
      `O relógio adianta e pula ${time} em ${day}, então a execução é ${at(actualTime)}${actualDay === null ? '' : ` de ${actualDay}`}.`,
    clocksBack: (time, day, runsTwice) =>
      `O relógio atrasa, e ${time} de ${day} acontece duas vezes; ${
        runsTwice ? 'a tarefa roda a cada hora, então roda nas duas' : 'a tarefa roda só na primeira'
      }.`,
  },
};
