// The texts of canvas pages.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const percent = new Intl.NumberFormat('en', { style: 'percent' })

const kinds: Readonly<Record<string, string>> = {
  rectangle: 'rectangle',
  ellipse: 'ellipse',
  text: 'text',
  connector: 'connector',
  file: 'file',
  line: 'line',
  group: 'group',
}

const shapes = (count: number) => (count === 1 ? '1 shape' : `${whole.format(count)} shapes`)

export const canvasTexts = {
  page: 'Canvas',
  toolbar: 'Canvas tools',
  select: 'Select',
  hand: 'Move the page',
  rectangle: 'Rectangle',
  ellipse: 'Ellipse',
  text: 'Text',
  connectTo: 'Connect to …',
  label: 'Edit text',
  delete: 'Delete',
  duplicate: 'Duplicate',
  front: 'Bring to front',
  forward: 'Bring forward',
  backward: 'Send backward',
  back: 'Send to back',
  undo: 'Undo',
  redo: 'Redo',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  fit: 'Show all',
  zoom: (scale: number) => percent.format(scale),
  shapeList: 'Shapes of the page',
  empty: 'This page is empty. Choose a rectangle, an ellipse or a text to begin.',
  emptyReadOnly: 'This page is empty.',
  readOnly: 'You may look at this page, not change it.',
  keys:
    'Arrow keys go from shape to shape. Alt or Control with arrow keys moves a shape, with Shift as well resizes it. ' +
    'Enter edits the text, C connects, Delete deletes, Space selects.',
  outline: 'Outline',
  outlineOf: 'What is on this page, in words',
  kind: (type: string) => kinds[type] ?? type,
  untitled: (kind: string) => `${kind} without text`,
  shape: (name: string, kind: string) => `${name}, ${kind}`,
  connector: (from: string, to: string, label: string) =>
    label === '' ? `Connector from ${from} to ${to}` : `Connector from ${from} to ${to}: ${label}`,
  freeEnd: 'a free end',
  selectedBy: (names: string) => `selected by ${names}`,
  writtenBy: (names: string) => `just written by ${names}`,
  locked: 'locked',
  connectsTo: (names: string) => `leads to ${names}`,
  labelOf: (name: string) => `Text of ${name}`,
  connectFrom: (name: string) => `Connect ${name} to`,
  findShape: 'Find a shape',
  noShape: 'No other shape has this text.',
  cancel: 'Cancel',
  moved: (x: number, y: number) => `Moved to ${whole.format(x)}, ${whole.format(y)}`,
  resized: (width: number, height: number) => `${whole.format(width)} by ${whole.format(height)}`,
  added: (kind: string) => `Added: ${kind}`,
  deleted: (count: number) => `Deleted ${shapes(count)}`,
  connected: (from: string, to: string) => `Connected ${from} to ${to}`,
  pasted: (count: number) => `Added ${shapes(count)}`,
  selected: (count: number) => (count === 0 ? 'Nothing selected' : `Selected ${shapes(count)}`),
  undone: 'Undone',
  redone: 'Done again',
  gone: 'Somebody else deleted the shape',
  agent: (name: string) => `${name} (agent)`,
}
