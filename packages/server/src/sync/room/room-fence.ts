/** The member `epoch` of what a room stores. A relay of one node has no epochs. [LIFE-26] */
export function epochMember(epoch: number | null): { readonly epoch?: number } {
  return epoch === null ? {} : { epoch }
}
