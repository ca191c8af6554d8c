"""The page's style sheet: system fonts, light and dark by the reader's choice, one column on a phone."""

__all__ = ["BEST_MOVE", "MOVE_MADE", "STYLE"]

# Arrows on a board.
MOVE_MADE, BEST_MOVE = "#ff9d2e", "#5fd0ff"

STYLE = """
:root { color-scheme: light dark;
  --page: #faf8f4; --card: #ffffff; --ink: #26211c; --soft: #665d53; --rule: #e2dbd0; --accent: #a4553d;
  --good: 47 125 93; --bad: 190 80 50;
  --s0: #a4432a; --s1: #1f6f8b; --s2: #7a8b1f; --s3: #7b4fa3; --s4: #b8860b; --s5: #4a4a4a; }
@media (prefers-color-scheme: dark) { :root {
  --page: #1b1917; --card: #25221f; --ink: #efe9df; --soft: #b3a99c; --rule: #3d3832; --accent: #e59a7c;
  --good: 96 180 140; --bad: 230 120 90;
  --s0: #f08c6c; --s1: #6cc4e0; --s2: #c3d45f; --s3: #c3a0ea; --s4: #f0c14f; --s5: #c8c8c8; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; font-size: 16px; }
main, header, footer { max-width: 1240px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 32px; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 44px 0 8px; padding-top: 14px; border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 0 0 6px; }
h3 small { color: var(--soft); font-weight: 400; font-size: .8rem; margin-left: 6px; }
p { margin: 0 0 12px; max-width: 75ch; }
.lead, figcaption, .note { color: var(--soft); }
figcaption, .note { font-size: .88rem; }
.card { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 10px 24px; margin: 20px 0;
  padding: 16px 20px; background: var(--card); border: 1px solid var(--rule); border-radius: 10px; }
.card dt { color: var(--soft); font-size: .82rem; }
.card dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
nav ul { display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 0; margin: 0 0 12px; list-style: none; }
a { color: var(--accent); }
.missing { border-left: 4px solid var(--accent); padding: 8px 16px; margin: 16px 0; background: var(--card);
  border-radius: 0 8px 8px 0; }
.missing ul { margin: 0; padding-left: 18px; overflow-wrap: anywhere; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(330px, 100%), 1fr)); gap: 18px; }
figure { margin: 0; padding: 14px 16px 10px; background: var(--card); border: 1px solid var(--rule);
  border-radius: 10px; min-width: 0; }
svg { display: block; width: 100%; height: auto; }
svg.chart { max-width: 560px; margin: 0 auto; }
.chart text { fill: var(--soft); font-size: 11.5px; font-family: inherit; }
.chart text.label { fill: var(--ink); font-size: 12px; }
.chart .grid { stroke: var(--rule); stroke-width: 1; fill: none; }
.chart .axis { stroke: var(--soft); stroke-width: 1; fill: none; }
.chart .diagonal { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 4 4; fill: none; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.whisker { fill: none; stroke-width: 2; opacity: .75; }
.s0 { stroke: var(--s0); } .s1 { stroke: var(--s1); } .s2 { stroke: var(--s2); }
.s3 { stroke: var(--s3); } .s4 { stroke: var(--s4); } .s5 { stroke: var(--s5); }
.line.s1 { stroke-dasharray: 7 3; } .line.s2 { stroke-dasharray: 2 3; } .line.s3 { stroke-dasharray: 9 3 2 3; }
.dot, .bar { stroke: none; }
.dot.s0, .bar.s0 { fill: var(--s0); } .dot.s1, .bar.s1 { fill: var(--s1); } .dot.s2, .bar.s2 { fill: var(--s2); }
.dot.s3, .bar.s3 { fill: var(--s3); } .dot.s4, .bar.s4 { fill: var(--s4); } .dot.s5, .bar.s5 { fill: var(--s5); }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; padding: 0; margin: 6px 0 4px; list-style: none;
  font-size: .86rem; }
.legend li { display: flex; align-items: center; gap: 6px; }
.key { width: 26px; height: 10px; }
.tables { display: flex; flex-wrap: wrap; gap: 8px 32px; align-items: flex-start; margin-top: 18px; }
.scroll { overflow-x: auto; margin: 14px 0 16px; max-width: 100%; }
table { border-collapse: collapse; background: var(--card); font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 4px 0 6px; }
th, td { padding: 5px 12px; border: 1px solid var(--rule); text-align: right; vertical-align: top; }
td { white-space: nowrap; } th { font-weight: 600; } thead th { color: var(--soft); font-size: .85rem; }
tbody th, thead th:first-child, td.words { text-align: left; }
tr.own th, tr.own td { background: rgb(var(--good) / .14); font-weight: 600; }
.confusion { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(480px, 100%), 1fr)); gap: 6px 24px; }
.confusion td { min-width: 76px; } .confusion small { display: block; color: var(--soft); }
.right { background: rgb(var(--good) / .22); } .wrong { background: rgb(var(--bad) / .18); }
.play { margin: 0 0 26px; }
.boards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(420px, 100%), 1fr)); gap: 16px; }
.boards figure { padding: 12px; }
.boards svg { border-radius: 8px; max-width: 720px; margin: 0 auto; }
.boards figcaption { color: var(--ink); font-size: 1rem; margin-top: 8px; }
footer { margin-top: 48px; padding-bottom: 32px; color: var(--soft); font-size: .86rem; }
@media (max-width: 640px) { main, header, footer { padding-left: 12px; padding-right: 12px; }
  th, td { padding: 4px 7px; } h1 { font-size: 1.5rem; } .confusion td { min-width: 0; } }
@media print { body { background: #fff; } figure, .play { break-inside: avoid; } }
"""
