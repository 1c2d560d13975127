/** Returns the member `epoch` for records and writes of a room; no member in a relay of one node, which has no epochs. [LIFE-26] */
export function epochMember(epoch: number | null): { readonly epoch?: number } {
  return epoch === null ? {} : { epoch }
}
