/** Tabs, of which one is shown. Arrows move along them (ARIA Authoring Practices, tabs). */

interface Props<Id extends string> {
  readonly label: string
  /** `hint` is shown where the pointer rests. */
  readonly tabs: ReadonlyArray<{ readonly id: Id; readonly name: string; readonly hint?: string }>
  readonly selected: Id
  /** The id of the element that has what a tab is about: it is labelled by `tab-` and the id of that tab. */
  readonly panel: string
  readonly show: (id: Id) => void
}

export const Tabs = <Id extends string>({ label, panel, selected, show, tabs }: Props<Id>) => {
  const move = (event: KeyboardEvent, index: number): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (by === undefined) return
    const { id } = tabs[(index + by + tabs.length) % tabs.length]!
    show(id)
    document.querySelector<HTMLElement>(`#tab-${id}`)?.focus()
    event.preventDefault()
  }
  return (
    <div class="tabs" role="tablist" aria-label={label}>
      {tabs.map(({ hint, id, name }, index) => (
        <button
          key={id}
          id={`tab-${id}`}
          type="button"
          role="tab"
          class="quiet"
          aria-selected={selected === id}
          aria-controls={panel}
          tabIndex={selected === id ? 0 : -1}
          title={hint}
          onClick={() => show(id)}
          onKeyDown={(event) => move(event, index)}
        >
          {name}
        </button>
      ))}
    </div>
  )
}
