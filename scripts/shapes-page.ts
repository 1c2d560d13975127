import type { Json } from '../packages/model/src/json.ts'
import { baseDefaults, creatableNames, type ShapeKind, shapeKinds } from '../packages/model/src/canvas/shape-kinds.ts'

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string

/** A description of each kind, for authors of editors. Kept here and not in the table of the model, which browsers load. */
const ABOUT: Readonly<Record<ShapeKind['type'], string>> = {
  rectangle: 'A box with straight sides.',
  ellipse: 'An ellipse; its radii are half of its width and height.',
  text: 'Text without a box; `fill` is the colour of its letters.',
  connector: 'A way from (`x`, `y`) to (`x2`, `y2`) whose ends may be attached to shapes.',
  file: 'A file of the workspace, by its hash; made by add_file.',
  line: 'A way without arrows of its own; made by editors.',
  group: 'A frame around the shapes that `childIds` names, bottom first; made by editors.',
  unknown: 'Any other type: a box of an editor, with members of its own that are kept as they are.',
}

/** The page about stored shapes for authors of editors, made from the table of kinds. [CANVAS-15] */
export function shapesPage(title: string, table: Table): string {
  return [
    `# ${title}`,
    '',
    'What the relay knows of the shapes on canvas pages: how its tools, previews and diagrams read and write them. A shape is one JSON value; the relay keeps every member that is not named here, and refuses no shape for what it holds.',
    '',
    `Tools make shapes of the types ${creatableNames.join(', ')} and, by add_file, file. Every new shape begins with ${members(baseDefaults)}, and has \`provenance\`.`,
    '',
    table(
      ['`type`', 'What it is', 'Size, and what it is without', 'Text', 'New ones have'],
      shapeKinds.map((kind) => [
        kind.type === 'unknown' ? 'any other' : `\`${kind.type}\``,
        ABOUT[kind.type],
        sizeOf(kind),
        textOf(kind),
        kind.defaults === null ? '–' : members(kind.defaults),
      ]),
    ),
    '',
    '`x` and `y` are the centre of a box and the start of a line; angles are degrees, clockwise around the centre. Where several members may hold the text, the first that does is read, and a new text is written to it.',
    '',
    table(
      ['`type`', 'What a patch may change', 'Drawn without members of its own'],
      shapeKinds.map((kind) => [
        kind.type === 'unknown' ? 'any other' : `\`${kind.type}\``,
        kind.settable.join(', '),
        lookOf(kind),
      ]),
    ),
  ].join('\n')
}

function members(object: { readonly [member: string]: Json }): string {
  return Object.entries(object)
    .map(([name, value]) => `\`${name}\` ${value === '' ? 'the text' : String(value)}`)
    .join(', ')
}

function sizeOf({ size, form }: ShapeKind): string {
  if (size === null) return form === 'line' ? 'its ends and waypoints' : 'that of its members'
  const halves = size.areHalves ? ' (halves)' : ''
  return `\`${size.width}\`, \`${size.height}\`${halves}; ${size.default.width} × ${size.default.height}`
}

function textOf({ label }: ShapeKind): string {
  const shown = label.read.map((name) => `\`${name}\``).join(', else ')
  return label.instead === null ? shown : `${shown}; pictures else show \`${label.instead}\``
}

function lookOf({ look, arrows, form }: ShapeKind): string {
  if (look.as === 'nothing') return 'nothing; its members are'
  const paint = `fill ${look.fill}, stroke ${look.stroke}, text ${look.labelColour} of ${look.labelSize} px`
  return form === 'line' ? `${paint}, arrows ${arrows.start} and ${arrows.end}` : paint
}
