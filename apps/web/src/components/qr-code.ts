import { encodeQR } from 'qr';
import { type Html, html } from '../html.ts';

/** A picture of a text for a camera. `label` says what it is. */
export function renderQrCode(text: string, label: string): Html {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 4 });
  const path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${rows.length} ${rows.length}" shape-rendering="crispEdges"><rect width="100%" height="100%" fill="#fff"/><path d="${path}" fill="#000"/></svg>`;
}
