import type { Side } from '../geometry/anchors.ts'
import type { Bounds, Point } from '../geometry/bounds.ts'
import type { TakenRoute } from '../router/care.ts'
import type { Size } from './node-size.ts'

export type { Side }

/** What is to be laid out: nodes with sizes, edges by places in `nodes`, and what is on the page already. */
export interface DiagramRequest {
  readonly nodes: readonly DiagramNode[]
  readonly edges: readonly DiagramEdge[]
  readonly layout: 'layered' | 'grid'
  readonly direction: 'TB' | 'LR'
  readonly routing: 'orthogonal' | 'straight'
  /** The boxes of the shapes on the page but those of fixed nodes; nothing new lies on them. */
  readonly obstacles: readonly Bounds[]
  /** The connectors on the page; their anchors are `<name of the shape> <side>`. */
  readonly taken: readonly TakenRoute[]
  /** The shape beside which the new part belongs. [AG-107] */
  readonly near: Bounds | null
}

export interface DiagramNode {
  /** Its name in anchors of `taken`; of a shape on the page the shape's id. */
  readonly name: string
  /** Of nodes that are placed even whole numbers. */
  readonly width: number
  readonly height: number
  /** The centre of a node that is not moved. [AG-106] */
  readonly at: Point | null
}

export interface DiagramEdge {
  readonly from: number
  readonly to: number
  /** The room that its label takes; `null` without one. */
  readonly label: Size | null
}

export interface DiagramLayout {
  /** The centre of each node, in the order of the nodes. */
  readonly centres: readonly Point[]
  readonly edges: readonly RoutedEdge[]
  /** The bounding box of all nodes and edges of the request. */
  readonly bounds: Bounds
  /** False when it was to stand near a shape and there is no room within reach of that. [AG-107] */
  readonly isNear: boolean
}

export interface RoutedEdge {
  readonly startAnchor: Side
  readonly endAnchor: Side
  readonly start: Point
  readonly end: Point
  /** Interior points; `null` for a straight line, which stores none. [DIAG-14, DIAG-16] */
  readonly waypoints: readonly Point[] | null
  /** It has waypoints, and there is no clear way for them. [DIAG-14] */
  readonly isClear?: false
  /** `null`: the middle. [DIAG-12] */
  readonly labelPosition: number | null
}
