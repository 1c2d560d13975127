import type { Plugin } from 'prosemirror-state'
import type { DecorationAttrs } from 'prosemirror-view'
import { yCursorPlugin } from 'y-prosemirror'
import type { Awareness } from 'y-protocols/awareness'

/** The `user` of an awareness state. Peers may send anything. */
interface Person {
  readonly name?: unknown
  readonly color?: unknown
  readonly kind?: unknown
}

const COLORS = ['#8250df', '#0969da', '#1a7f37', '#9a6700', '#bc4c00', '#cf222e', '#bf3989', '#1b7c83']
const NAME_CHARACTERS = 40

/**
 * Shows the carets of others with their names, and their selections. Styles are set through the style objects of the DOM, which a strict
 * Content-Security-Policy allows. The page styles the classes `docrelay-caret`, `docrelay-caret-name` and `docrelay-selection`; the caret and
 * selection of an agent also have `docrelay-agent`.
 */
export function carets(awareness: Awareness): Plugin {
  return yCursorPlugin(awareness, { cursorBuilder: caretOf, selectionBuilder: selectionOf }) as Plugin
}

/** Returns the colour of a person: their own when it is `#rrggbb`, else a colour that depends on the client id only. */
export function colorOf({ color }: Person, clientId: number): string {
  if (typeof color === 'string' && /^#[0-9a-f]{6}$/i.test(color)) return color
  return COLORS[clientId % COLORS.length] as string
}

/** Returns `#000000` or `#ffffff`, whichever is easier to read on a colour given as `#rrggbb`. [WCAG 1.4.3] */
export function inkOn(color: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  // Black and white have the same contrast to a colour of this luminance.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000000' : '#ffffff'
}

function caretOf(user: Person, clientId: number): HTMLElement {
  const color = colorOf(user, clientId)
  const caret = document.createElement('span')
  caret.className = `docrelay-caret${kindClass(user)}`
  // Hidden, because screen readers would read the name in the middle of a sentence.
  caret.setAttribute('aria-hidden', 'true')
  caret.style.setProperty('border-color', color)
  const name = document.createElement('span')
  name.className = 'docrelay-caret-name'
  name.style.setProperty('background-color', color)
  name.style.setProperty('color', inkOn(color))
  name.textContent = typeof user.name === 'string' ? user.name.slice(0, NAME_CHARACTERS) : ''
  // Word joiners keep the caret from adding a place where a line may break.
  caret.append('\u2060', name, '\u2060')
  return caret
}

/** Returns the extra class for an agent. The presence of an agent names the first block that it wrote in place of a caret. [PRES-1] */
function kindClass({ kind }: Person): string {
  return kind === 'agent' ? ' docrelay-agent' : ''
}

function selectionOf(user: Person, clientId: number): DecorationAttrs {
  return { class: `docrelay-selection${kindClass(user)}`, style: `background-color: ${colorOf(user, clientId)}40` }
}
