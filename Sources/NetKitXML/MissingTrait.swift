#if !XML
// The package was resolved without the trait XML, so this module has no code. These declarations stand for the main
// types, so that a program that uses them gets an error that names the trait.

/// Requires the trait XML of the package.
@available(*, unavailable, message: "NetKitXML requires the trait XML: .package(…, traits: [\"XML\"])")
public enum XMLDocument {}

/// Requires the trait XML of the package.
@available(*, unavailable, message: "NetKitXML requires the trait XML: .package(…, traits: [\"XML\"])")
public enum XMLElement {}

/// Requires the trait XML of the package.
@available(*, unavailable, message: "NetKitXML requires the trait XML: .package(…, traits: [\"XML\"])")
public enum XMLEvent {}

/// Requires the trait XML of the package.
@available(*, unavailable, message: "NetKitXML requires the trait XML: .package(…, traits: [\"XML\"])")
public enum XMLEvents {}

/// Requires the trait XML of the package.
@available(*, unavailable, message: "NetKitXML requires the trait XML: .package(…, traits: [\"XML\"])")
public enum XMLParser {}

/// Requires the trait XML of the package.
@available(*, unavailable, message: "NetKitXML requires the trait XML: .package(…, traits: [\"XML\"])")
public enum XMLRules {}
#endif
