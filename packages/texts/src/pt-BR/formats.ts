import { createFormats } from '../formats.ts';

export const formats = createFormats('pt-BR', {
  dayAtTime: (day, time) => `${day} ${time.startsWith('01') ? 'à' : 'às'} ${time}`,
  onDay: (day) => `em ${day}`,
  underAMinute: 'em menos de um minuto',
  justNow: 'agora mesmo',
});
