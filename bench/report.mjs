// How results look in the terminal.

/** One line: the measure, a median for each contender, the ratio and the goal. */
export function printMeasure({ name, unit, medians, ratio, goal, isGoalMet }) {
  const parts = Object.entries(medians).map(
    ([contender, value]) => `${contender} ${formatNumber(value)} ${unit}`,
  );
  let line = `  ${name.padEnd(36)} ${parts.join('   ')}`;
  if (ratio !== undefined) line += `   ratio ${formatNumber(ratio)}`;
  if (isGoalMet !== undefined) line += ` (goal ${goal}: ${isGoalMet ? 'met' : 'MISSED'})`;
  console.log(line);
}

/** Three significant digits, and all digits before the point. */
function formatNumber(value) {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return Number(value.toPrecision(3)).toString();
}
