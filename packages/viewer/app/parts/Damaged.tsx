/** Says of a call or a message that what is stored of it is not what was recorded. */

export const damagedTitle = "What is stored is not what was recorded: tachograph verify says more."

export const Damaged = () => (
  <p class="error" title={damagedTitle}>
    Damaged: it cannot be read
  </p>
)
