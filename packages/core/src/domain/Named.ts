/** What an event can create by naming it: an agent, an agent version or a person. */

export interface Named {
  /** Whether only events have named it so far. Absent if not. */
  readonly isNamedOnly?: boolean
}

/** Whether what is put is the first that does not only name it, and so decides its description or properties. */
export const isFirst = (put: Named, existing: Named): boolean =>
  existing.isNamedOnly === true && put.isNamedOnly !== true
