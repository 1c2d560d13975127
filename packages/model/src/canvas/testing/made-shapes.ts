import type { JsonObject } from '../../json.ts'
import { provenance } from './shape-editing.ts'

interface MadeShape {
  /** The stored shape, without its id, after a call that gives only the kind. */
  readonly least: JsonObject
  /** A call with many members, on a page with the rectangle `a` of 100 by 80 at 0, 0. */
  readonly full: JsonObject
  /** The stored shape, without its id, after the call `full`. */
  readonly fullStored: JsonObject
}

const base = { rotation: 0, opacity: 1, locked: false, visible: true, provenance }
const boxPaint = { fill: '#4a90d9', stroke: '#2c5282', strokeWidth: 2 }
const letters = { fontSize: 16, fontFamily: 'sans-serif', textAlign: 'left', verticalAlign: 'top' }
const badge = { iconId: 'builtin:server', iconDisplayMode: 'badge', iconSize: 32 }
const arrows = { startArrowStyle: 'diamond', endArrowStyle: 'none' }
const ends = { startShapeId: 'a', endShapeId: null, startAnchor: 'right', endAnchor: 'top' }
const way = { routingMode: 'curved', waypoints: [{ x: 400, y: 300 }], labelPosition: 0.25 }

/** Each kind that tools make. */
export const madeShapes: { readonly [kind: string]: MadeShape } = {
  rectangle: {
    least: { ...base, ...boxPaint, type: 'rectangle', x: 0, y: 0, width: 100, height: 80, cornerRadius: 0 },
    full: {
      ...{ x: 500, y: -20.5, w: 300, h: 90, text: 'Relay' },
      ...{ style: { fill: 'red', stroke: 'AUTO', strokeWidth: 0, labelColor: '#fff' } },
      ...badge,
    },
    fullStored: {
      ...base,
      ...{ type: 'rectangle', x: 500, y: -20.5, width: 300, height: 90, cornerRadius: 0, label: 'Relay' },
      ...{ fill: 'red', stroke: 'auto', strokeWidth: 0, labelColor: '#fff' },
      ...badge,
    },
  },
  ellipse: {
    least: { ...base, ...boxPaint, type: 'ellipse', x: 0, y: 0, radiusX: 50, radiusY: 40 },
    full: { x: 500, y: 1, w: 301, h: 90, text: 'E', style: { fill: 'transparent' }, iconId: 'ab'.repeat(32) },
    fullStored: {
      ...base,
      ...boxPaint,
      ...{ type: 'ellipse', x: 500, y: 1, radiusX: 150.5, radiusY: 45, label: 'E', fill: 'transparent', iconId: 'ab'.repeat(32) },
    },
  },
  text: {
    least: {
      ...base,
      ...letters,
      ...{ type: 'text', x: 0, y: 0, text: '', fill: 'auto', stroke: null, strokeWidth: 0, width: 200, height: 50 },
    },
    full: { x: 500, y: 500, w: 400, h: 60, text: 'Title', style: { labelColor: 'rgb(1, 2, 3)' } },
    fullStored: {
      ...base,
      ...letters,
      ...{
        type: 'text',
        x: 500,
        y: 500,
        text: 'Title',
        fill: 'rgb(1, 2, 3)',
        stroke: null,
        strokeWidth: 0,
        width: 400,
        height: 60,
      },
    },
  },
  connector: {
    least: {
      ...base,
      ...{ type: 'connector', x: 0, y: 0, x2: 0, y2: 0, fill: null, stroke: 'auto', strokeWidth: 2 },
      ...{ startShapeId: null, endShapeId: null, startAnchor: 'center', endAnchor: 'center' },
      ...{ startArrowStyle: 'none', endArrowStyle: 'triangle', startArrow: false, endArrow: true },
    },
    full: { x: 9, y: 9, x2: 900, y2: 80, text: 'calls', style: { stroke: 'blue', strokeWidth: 3 }, ...ends, ...arrows, ...way },
    fullStored: {
      ...base,
      ...{ type: 'connector', x: 50, y: 0, x2: 900, y2: 80, label: 'calls', fill: null, stroke: 'blue', strokeWidth: 3 },
      ...ends,
      ...arrows,
      ...{ startArrow: true, endArrow: false },
      ...way,
    },
  },
}
