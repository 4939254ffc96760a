/** Styles are imported for their effect: Vite makes one file of them. */
declare module "*.css"
