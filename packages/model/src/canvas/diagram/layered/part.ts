/**
 * One connected part of a diagram as the layered layout sees it: edges point down (TB); LR is the same with x and y exchanged. Nodes are
 * numbered in input order.
 */
export interface Part {
  readonly boxes: readonly PartBox[]
  readonly edges: readonly PartEdge[]
}

/** How far a node reaches from its middle, loops at it included in `right` and `down`. */
export interface PartBox {
  readonly left: number
  readonly right: number
  readonly up: number
  readonly down: number
  /** Half the width and half the height of the node alone. */
  readonly halfWidth: number
  readonly halfHeight: number
}

/** An edge between two different nodes. */
export interface PartEdge {
  readonly from: number
  readonly to: number
  /** The room of its label sideways and along the direction; 0 without one. */
  readonly labelAcross: number
  readonly labelAlong: number
  /** Where on its way the middle of its label is, as a part of the whole. */
  readonly labelAt: number
}

export const NODE_GAP = 80
export const STUB = 20
export const LANE = 12
